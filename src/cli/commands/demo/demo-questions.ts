import type { Database } from '../../../db/database.ts'
import type { Output } from '../../output/output.ts'
import { formatTable } from '../../output/table.ts'

/** A question in the SQL that people would write. */
interface Question {
  readonly title: string
  readonly sql: string
}

/** What can be asked first: after the live resources, and after those that come daily. */
export const firstQuestions: readonly Question[] = [
  {
    title: 'Who holds how much of the map?',
    sql: `select guild_name, count(*) as held from analytics.territory_hold
           where is_current and guild_name is not null group by 1 order by 2 desc, 1 limit 4`,
  },
  {
    title: 'Which legendary bows hit hardest?',
    sql: `select display_name, level, average_dps from analytics.item
           where sub_type = 'bow' and tier = 'legendary' order by average_dps desc nulls last limit 4`,
  },
]

/** What can be asked when some days have passed. */
export const lastQuestions: readonly Question[] = [
  {
    title: 'What did the latest patch change?',
    sql: `select display_name, path, old_value as before, new_value as after from analytics.item_change
           where path like '/identifications/%' and patch = (select max(patch) from analytics.patch)
           order by display_name, path limit 4`,
  },
  {
    title: 'What is rare in the loot pools of this week?',
    sql: `select pool, kind, reward, tier, since from analytics.loot_pool_at((select max(observed_at) from sync.run))
           where not always order by tier = 'MYTHIC' desc nulls last, pool, reward limit 4`,
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

/** Asks it and prints the rows. */
export async function showQuestion({ title, sql }: Question, db: Database, out: Output): Promise<void> {
  const rows = await db.query(sql)
  out.write(`\n${title}\n\n${indent(formatTable(Object.keys(rows[0] ?? {}), rows))}\n`)
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ')
}
