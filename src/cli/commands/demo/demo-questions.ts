import type { Database } from '../../../db/database.ts'
import type { Output } from '../../output/output.ts'
import { formatTable } from '../../output/table.ts'

/** The questions of the demo, in the SQL that people would write. */
const questions = [
  {
    title: 'Which legendary bows hit hardest?',
    sql: `select display_name, level, average_dps from analytics.item
           where sub_type = 'bow' and tier = 'legendary' order by average_dps desc nulls last limit 4`,
  },
  {
    title: 'What did the latest patch change?',
    sql: `select display_name, path, old_value as before, new_value as after from analytics.item_change
           where path like '/identifications/%' and patch = (select max(patch) from analytics.patch)
           order by display_name, path limit 4`,
  },
  {
    title: 'Which guild captures from which?',
    sql: `select attacker, defender, captures from analytics.capture_matrix('-infinity', 'infinity')
           where attacker_uuid is distinct from defender_uuid limit 4`,
  },
  {
    title: 'Which territory was held longest?',
    sql: `select territory, guild_name, held_from, held_until, held_for from analytics.territory_hold
           where not is_current order by held_for desc limit 4`,
  },
  {
    title: 'Which members contributed most to the biggest guild, and how sure is it?',
    sql: `select username, rank, contributed, round((share * 100)::numeric, 1) as percent, quality
            from analytics.member_contribution((select guild_uuid from analytics.guild order by members desc nulls last limit 1),
                                               '-infinity', 'infinity') limit 4`,
  },
  {
    title: 'When is a world full?',
    sql: `select world, hour, round(online_avg::numeric, 1) as online_avg, online_max, round(coverage::numeric, 2) as coverage
            from analytics.world_peak((select min(observed_at) from sync.run), (select max(observed_at) from sync.run))
           order by online_max desc, hour limit 4`,
  },
]

/** Runs the questions and prints their rows. */
export async function showQuestions(db: Database, out: Output): Promise<void> {
  for (const { title, sql } of questions) {
    const rows = await db.query(sql)
    out.write(`${title}\n\n${indent(formatTable(Object.keys(rows[0] ?? {}), rows))}\n`)
  }
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ')
}
