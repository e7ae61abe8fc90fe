import type { Installation } from './installation.ts'
import type { Place, Stage } from './stage.ts'

/** What stands in the docs for something of the reader's own, and what it is in the database that is played on. */
export type Names = readonly (readonly [RegExp, string])[]

type Row = Readonly<Record<string, unknown>>

/** Rows of a question, asked as a user asks. */
async function rowsOf(stage: Stage, place: Place, question: string): Promise<Row[]> {
  const { out } = await stage.type(`wynnsync ${question} --json`, place)
  const answer: unknown = out.trim() === '' ? [] : JSON.parse(out)
  return Array.isArray(answer) ? answer : ((answer as { runs?: Row[] }).runs ?? [])
}

/**
 * Names that the database has; undefined while it is too young to have them.
 * @param from, to the time that was recorded, ISO
 */
export async function namesIn(
  stage: Stage,
  { main }: Installation,
  from: string,
  to: string,
): Promise<Names | undefined> {
  const ask = (question: string) => rowsOf(stage, main, question)
  const guilds = await ask(
    'query guild select=name,prefix,guild_uuid,members members=gte.3 order=members.desc --limit 60',
  )
  const members = await ask('query guild_member select=guild_uuid,username --limit 1')
  const prefixes = guilds.map(({ prefix }) => prefix)
  const isOne = (row: Row) => prefixes.filter((one) => one === row.prefix).length === 1
  const guild = guilds.find((row) => isOne(row) && /^\w+$/.test(String(row.prefix)))
  const [hold, other] = await ask('query territory select=territory guild_uuid=is.not_null --limit 2')
  const player = (await ask('query player_session select=username username=is.not_null --limit 40')).find(
    ({ username }) => /^\w+$/.test(String(username)),
  )
  const [world] = await ask('query world select=world --limit 1')
  const [bow] = await ask('query item sub_type=bow select=internal_name --limit 1')
  const [event] = await ask('query world_event select=name --limit 1')
  const [run] = await ask('runs --limit 1')
  const found = { guild, member: members[0], hold, other, player, world, bow, event, run }
  const missing = Object.entries(found).flatMap(([what, row]) => (row ? [] : [what]))
  if (missing.length > 0) stage.note(`${main.name}: there is no ${missing.join(', ')} yet`)
  if (!guild || members.length === 0 || !hold || !other || !player || !world || !bow || !event || !run) return undefined
  const text = (value: unknown) => String(value)
  const hours = (many: number) => new Date(Date.parse(from) + many * 3_600_000).toISOString()
  return [
    [/\b(GLD|PREFIX|ABC)\b/g, text(guild.prefix)],
    [/\bSomePlayer\b/g, text(player.username)],
    [/\bRagged Coast\b/g, text(hold.territory)],
    [/\bDetlas\b/g, text(other.territory)],
    [/\bWC1\b/g, text(world.world)],
    [/\bOak Bow\b/g, text(bow.internal_name)],
    [/\bName of it\b/g, text(event.name)],
    [/\b3f2a91c0\b/g, text(run.runId).slice(0, 8)],
    [/2026-05-01T10:00Z/g, hours(0.5)],
    [/2026-05-01T12:00Z/g, hours(1.5)],
    [/2026-05-01\b/g, from],
    [/2026-06-01\b/g, to],
    [/\bYOUR_APPLICATION\b/g, 'sandbox'],
    [/\bcurl /g, 'curl --fail-with-body --silent --show-error '],
    [/\bpsql (?=postgres:)/g, 'psql -v ON_ERROR_STOP=1 -c "select * from analytics.freshness where is_late" '],
  ]
}
