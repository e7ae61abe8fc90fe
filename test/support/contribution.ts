import type { Member } from './membership-changes.ts'

/*
 * What `member_contribution` promises, computed from the answers without the program:
 *
 * - A spell is a player's time under one `joined`. It begins at 0 when it began after the first answer about the guild;
 *   of an older one only what came after its first answer counts ("partial" where that first answer lies in the interval).
 * - A value is believed as far as no later answer of the spell takes it back: where later values lie between the highest
 *   value before it and itself, the lowest of them is.
 * - Where everything from an answer on lies below the answer before it, the counter began again there, at what it showed.
 * - What lies below what the counter reached since it began, or is not wholly believed, is "clamped".
 * - What is gained at an answer is by how much its believed value exceeds all before it since the counter began.
 *   It counts for the interval in which the answer lies.
 */

interface Answered {
  readonly at: Date
  readonly members: ReadonlyMap<string, Member>
}

interface Gain {
  readonly player: string
  readonly at: number
  readonly gained: number
  readonly quality: 'exact' | 'partial' | 'clamped' | 'reset'
}

const severity: readonly string[] = ['exact', 'partial', 'clamped', 'reset']

/**
 * The function that tells contributed and quality by player, for any interval [from, to).
 * @param sinceJoining false for a counter that does not begin at 0 when a member joins
 */
export function contributionIn(answers: readonly Answered[], sinceJoining = true) {
  const since = answers[0]?.at.getTime() ?? 0
  const spells = new Map<string, { player: string; joined: number; values: { at: number; value: number }[] }>()
  for (const { at, members } of answers)
    for (const [player, { joined, contributed }] of members) {
      const name = `${player} ${joined}`
      const spell = spells.get(name) ?? { player, joined: Date.parse(joined), values: [] }
      spells.set(name, spell)
      spell.values.push({ at: at.getTime(), value: contributed })
    }
  const gains = [...spells.values()].flatMap((spell) =>
    gainsOf(spell.player, sinceJoining && spell.joined >= since, spell.values),
  )

  return (from: Date, to: Date): Map<string, { contributed: number | null; quality: string }> => {
    const [begin, end] = [from.getTime(), to.getTime()]
    const within = (at: number) => at >= begin && at < end
    // A response that the guild is gone has no members.
    const isKnown = answers.some(({ at, members }) => members.size > 0 && within(at.getTime()))
    const found = new Map<string, { contributed: number | null; quality: string }>()
    for (const player of present(answers, begin, end))
      found.set(player, isKnown ? { contributed: 0, quality: 'exact' } : { contributed: null, quality: 'unknown' })
    for (const { player, gained, quality } of gains.filter(({ at }) => within(at))) {
      const before = found.get(player)
      const worst = Math.max(severity.indexOf(quality), severity.indexOf(before?.quality ?? 'exact'))
      found.set(player, { contributed: (before?.contributed ?? 0) + gained, quality: severity[worst] ?? quality })
    }
    return found
  }
}

/** Who was a member at some time of the interval: from the first answer that showed it until the first that did not. */
function present(answers: readonly Answered[], begin: number, end: number): Set<string> {
  const found = new Set<string>()
  answers.forEach(({ at, members }, nth) => {
    const until = answers[nth + 1]?.at.getTime() ?? Number.POSITIVE_INFINITY
    if (at.getTime() < end && until > begin) for (const player of members.keys()) found.add(player)
  })
  return found
}

function gainsOf(player: string, fromZero: boolean, values: readonly { at: number; value: number }[]): Gain[] {
  let level: number | null = fromZero ? 0 : null
  let highest: number | null = null
  let reached: number | null = null
  let last: number | null = null
  let begun = 0
  return values.flatMap(({ at, value }, nth): Gain[] => {
    // A sample is a change; what stays says nothing new.
    if (value === last) return []
    const later = values.slice(nth + 1).map((one) => one.value)
    const coming = Math.max(value, ...later)
    const isReset = last !== null && last > coming
    if (isReset) {
      level = null
      reached = null
      begun += 1
    }
    const taken: number | null = highest
    const doubts = taken === null ? [] : later.filter((one) => one >= taken && one < value)
    const believed = Math.min(value, ...doubts)
    const gained = level === null ? 0 : Math.max(0, believed - level)
    const isPartial = highest === null && begun === 0 && !fromZero
    const isClamped = (reached !== null && value < reached) || believed < value
    level = Math.max(level ?? believed, believed)
    highest = Math.max(highest ?? value, value)
    reached = Math.max(reached ?? value, value)
    last = value
    return [
      { player, at, gained, quality: isPartial ? 'partial' : isReset ? 'reset' : isClamped ? 'clamped' : 'exact' },
    ]
  })
}
