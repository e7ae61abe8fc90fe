import { isFields } from './recorded.ts'

/** One member as an answer shows it. */
export interface Member {
  readonly rank: string
  readonly username: string
  readonly joined: string
  readonly contributed: number
}

/** The members of a guild's answer by uuid, read without the program. */
export function membersIn(body: unknown): Map<string, Member> {
  const members = isFields(body) && isFields(body.members) ? body.members : {}
  const found = new Map<string, Member>()
  for (const [rank, ofRank] of Object.entries(members))
    for (const [name, record] of Object.entries(isFields(ofRank) ? ofRank : {})) {
      if (!isFields(record)) continue
      const { uuid, joined, contributed } = record
      found.set(String(uuid), {
        rank,
        username: name,
        joined: new Date(String(joined)).toISOString(),
        contributed: Number(contributed),
      })
    }
  return found
}

/** What changed between two answers in a row: `[event, instant of the later one, player, from, to]`. */
export function changesBetween(before: Map<string, Member>, after: Map<string, Member>, at: string): string[][] {
  const found: string[][] = []
  for (const [player, now] of after) {
    const then = before.get(player)
    if (!then) found.push(['joined', at, player, '', now.rank])
    else if (then.joined !== now.joined)
      found.push(['left', at, player, then.rank, ''], ['joined', at, player, '', now.rank])
    else {
      if (then.rank !== now.rank) found.push(['rank', at, player, then.rank, now.rank])
      if (then.username !== now.username) found.push(['renamed', at, player, then.username, now.username])
    }
  }
  for (const [player, then] of before) if (!after.has(player)) found.push(['left', at, player, then.rank, ''])
  return found
}
