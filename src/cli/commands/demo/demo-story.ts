import type { Database } from '../../../db/database.ts'
import { clockTime, count, length, moment, number } from '../../../drawing/words.ts'
import { readAsked, rowsOf } from '../../../questions/asking/ask.ts'
import { statementFor } from '../../../questions/asking/statement.ts'
import { givenWords } from '../../../questions/asking/words.ts'
import { readQuestions } from '../../../questions/questions.ts'
import { nameFinders } from '../../../resources/key-names.ts'
import type { GameHistory } from '../../../sandbox/index.ts'

/** What a paragraph of the story shows. */
export interface Paragraph {
  readonly text: string
  readonly command: readonly string[]
  /** Those of the answer's columns that are shown. */
  readonly columns: readonly string[]
  readonly rows: readonly Record<string, unknown>[]
}

/** What a paragraph is made from: what is in the database, and what truly happened. */
interface Played {
  readonly db: Database
  /** The instant of the simulated world, ms. */
  readonly now: number
  readonly history: GameHistory
}

/** What is to be seen when the first resource has come, and what when the days are over. */
export const begin = theMap
export const [...end] = [theWar, thePrivacySwitch, thePatch, theTransfer]

async function theMap(played: Played): Promise<Paragraph> {
  const command = ['query', 'guild_territory_count', '2026-05-01', '2026-05-01T01:00Z', '1h']
  const rows = await ask(played, command)
  const [first] = rows
  return {
    text: `The map: ${count(rows.length, 'guild')} share it. ${first?.guild_name} holds most: ${count(Number(first?.territories), 'territory', 'territories')}.`,
    command,
    columns: ['guild_name', 'territories'],
    rows,
  }
}

async function theWar(played: Played): Promise<Paragraph> {
  const command = ['query', 'capture_matrix', '2026-05-02', '2026-05-03']
  const rows = await ask(played, command)
  const [taken, back] = rows
  const captures = played.history.captures.map(({ at }) => Date.parse(at))
  const lasted = ((captures.at(-1) ?? 0) - (captures[0] ?? 0)) / 1000
  return {
    text: `War: on ${moment(new Date(captures[0] ?? 0))}, ${taken?.attacker} attacks ${taken?.defender}, and has ${count(Number(taken?.captures), 'territory', 'territories')} of it before ${number(Number(back?.captures))} are taken back. All is over in ${length(lasted)}.`,
    command,
    columns: ['attacker', 'defender', 'captures'],
    rows,
  }
}

async function thePrivacySwitch(played: Played): Promise<Paragraph> {
  const switched = played.history.privacy.find(({ rule, restricted, at }) => {
    return rule === 'onlineStatus' && restricted && at >= '2026-05-01'
  })
  const player = switched?.player ?? ''
  const name = await nameOf(played.db, player)
  const removals = await played.db.query<{ at: Date; fieldGroup: string }>(
    `select at, field_group as "fieldGroup", rows, reason from sync.privacy_action where player_uuid::text = $1 order by at`,
    [player],
  )
  // What else the player hid before is another row of the table.
  const removed = removals.find(({ fieldGroup }) => fieldGroup === 'onlineStatus')
  return {
    text: `A privacy switch: on ${moment(new Date(switched?.at ?? 0))}, ${name} hides the online status. The second response that shows it removes what was kept of it, at ${clockTime(removed?.at ?? new Date(0))}.`,
    command: ['privacy', 'show', name],
    columns: ['at', 'fieldGroup', 'rows', 'reason'],
    rows: removals,
  }
}

async function thePatch(played: Played): Promise<Paragraph> {
  const [patched] = played.history.itemPatches
  const [item] = await played.db.query<{ name: string; at: Date }>(
    `select display_name as name, changed_at as at from analytics.item_change
      where internal_name = any($1::text[]) and path like '/identifications/%' order by 1 limit 1`,
    [patched?.changed ?? []],
  )
  const command = ['query', 'item_change', item?.name ?? '']
  const rows = await ask(played, command)
  return {
    text: `A patch: on ${moment(item?.at ?? new Date(0))}, ${count(patched?.changed.length ?? 0, 'item')} are not what they were the day before. One of them is ${item?.name}.`,
    command,
    columns: ['path', 'old_value', 'new_value'],
    rows: rows.slice(0, 4),
  }
}

async function theTransfer(played: Played): Promise<Paragraph> {
  const command = ['query', 'membership_event', 'event=transferred']
  const rows = await ask(played, command)
  const [one] = rows
  return {
    text: `Changing sides: after the war, ${one?.username} goes over to ${one?.guild_name}.`,
    command,
    columns: ['at', 'username', 'from_rank', 'guild_name', 'to_rank'],
    rows,
  }
}

/** The rows that `wynnsync query` shows. */
async function ask({ db, now }: Played, [, name, ...given]: readonly string[]): Promise<Record<string, unknown>[]> {
  const question = (await readQuestions(db)).find((one) => one.name === name)
  if (!question) throw new RangeError(`no question is called ${name}`)
  const asked = await readAsked(db, question, givenWords(question, given), { now, finders: nameFinders })
  return await rowsOf(db, statementFor(question, asked, 0), asked)
}

async function nameOf(db: Database, player: string): Promise<string> {
  const [row] = await db.query<{ name: string }>(
    `select username as name from analytics.guild_member where player_uuid::text = $1`,
    [player],
  )
  return row?.name ?? player
}
