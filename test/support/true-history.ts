import type { GameHistory } from '../../src/sandbox/index.ts'
import { changesBetween, type Member } from './membership-changes.ts'

const ms = (text: string) => Date.parse(text)

/** Who held a place, since when; null while it had no holder; undefined while it was not on the map. */
type Standing = { readonly guild: string; readonly since: string } | null | undefined

/** What answers at these instants (rising, ms) could show of a true history: captures and holds, in no order. */
export function visibleTerritories(history: GameHistory, polls: readonly number[], firstNames: readonly string[]) {
  const captures: unknown[][] = []
  const holds: unknown[][] = []
  const names = new Set([...firstNames, ...history.map.map(({ territory }) => territory)])
  for (const name of names) {
    let before: Standing
    let open: { guild: string; from: string } | undefined
    const series = history.holds.filter(({ territory }) => territory === name)
    const changes = history.map.filter(({ territory, formerName }) => territory === name || formerName === name)
    polls.forEach((at, nth) => {
      const now = standingAt(series, changes, firstNames.includes(name), name, at)
      if (
        now?.guild === before?.guild &&
        now?.since === before?.since &&
        (now === undefined) === (before === undefined)
      )
        return
      // What is missing is believed to be gone when the next answer lacks it too.
      if (now === undefined && nth === polls.length - 1) return
      const seen = new Date(at).toISOString()
      if (now && before !== undefined)
        captures.push([name, now.since, seen, before?.guild ?? null, now.guild, before?.guild === now.guild])
      if (open) holds.push([name, open.from, now ? now.since : seen, open.guild])
      open = now ? { guild: now.guild, from: now.since } : undefined
      before = now
    })
    if (open) holds.push([name, open.from, null, open.guild])
  }
  return { captures, holds }
}

function standingAt(
  holds: GameHistory['holds'],
  changes: GameHistory['map'],
  isFirst: boolean,
  name: string,
  at: number,
): Standing {
  const last = changes.findLast((one) => ms(one.at) <= at)
  const exists = last ? last.territory === name && last.event !== 'retired' : isFirst
  if (!exists) return undefined
  const hold = holds.findLast(({ from, until }) => ms(from) <= at && (until === null || ms(until) > at))
  return hold ? { guild: hold.guild, since: hold.from } : null
}

/** What answers about a guild at these instants (rising, ms) could show of its members' changes. */
export function visibleMembers(history: GameHistory, guild: string, answers: readonly number[]): string[][] {
  const names = new Map<string, string>()
  const states = answers.map((at) => membersAt(history, guild, at, names))
  return states.flatMap((after, nth) => {
    const before = states[nth - 1]
    return before ? changesBetween(before, after, new Date(answers[nth] ?? 0).toISOString()) : []
  })
}

function membersAt(
  { memberships }: GameHistory,
  guild: string,
  at: number,
  names: Map<string, string>,
): Map<string, Member> {
  const members = new Map<string, Member>()
  for (const change of memberships) {
    if (ms(change.at) > at) break
    const { player, event, toRank } = change
    const isHere = change.guild === guild
    if (!isHere && change.otherGuild === guild) members.delete(player)
    if (!isHere) continue
    const before = members.get(player)
    const joined = event === 'joined' || event === 'transferred' ? change.at : (before?.joined ?? '')
    if (toRank === null) members.delete(player)
    else members.set(player, { rank: toRank, username: names.get(player) ?? '', joined, contributed: 0 })
  }
  return members
}

/** Whether a player hid being online at an instant (ms). */
export function isHidden({ privacy }: GameHistory, player: string, at: number): boolean {
  return (
    privacy.findLast((one) => one.player === player && one.rule === 'onlineStatus' && ms(one.at) <= at)?.restricted ??
    false
  )
}
