import type { Member } from './membership-changes.ts'

/*
 * What `member_contribution` promises, computed from the answers without the program:
 *
 * - A spell is a player's time under one `joined`.
 * - A value is believed as far as no later answer of the spell takes it back: where later values lie between the highest
 *   value before it and itself, the lowest of them is.
 * - Where everything from an answer on lies below the answer before it, the counter began again there, at what it showed.
 * - What lies below what the counter reached since it began, or is not wholly believed, is "clamped".
 * - What is gained at an answer is by how much its believed value exceeds all before it since the counter began. It counts for the
 *   interval in which the answer lies, that at its end included and that at its beginning not: what that one shows was made before.
 *   It is never more than the difference of two answers: what was taken back of a rise is in no later one.
 * - Where answers are further apart around a border, or where a member came or went, than is usual, or what a member had when
 *   the interval began is not known, only what answers after the first one within show counts: "at_least". Of what fell and came
 *   back it is not known whether it dipped or began again: what is so either way counts.
 */

interface Answered {
  readonly at: Date
  readonly members: ReadonlyMap<string, Member>
}

interface Gain {
  readonly at: number
  readonly gained: number
  /** Of the first answer of a spell: what it shows, all of which was made since joining. */
  readonly whole: number | null
  readonly quality: 'exact' | 'clamped' | 'reset'
  /** What came together since the first one, where all that was lower than before is a dip: at the end of an interval, and at its beginning. */
  readonly lowest: number
  readonly highest: number
}

interface Spell {
  readonly player: string
  readonly joined: number
  readonly values: { at: number; value: number }[]
  readonly gains: readonly Gain[]
  /** The first answer without it. */
  readonly ends: number
}

const severity: readonly string[] = ['exact', 'clamped', 'reset', 'at_least']

/**
 * The function that tells contributed and quality by player, for any interval [from, to).
 * @param sinceJoining false for a counter that does not begin at 0 when a member joins
 */
export function contributionIn(answers: readonly Answered[], sinceJoining = true) {
  const instants = answers.filter(({ members }) => members.size > 0).map(({ at }) => at.getTime())
  const spells = spellsOf(answers)

  return (from: Date, to: Date): Map<string, { contributed: number | null; quality: string }> => {
    const [begin, end] = [from.getTime(), to.getTime()]
    const [first, last] = [borderOf(instants, begin), borderOf(instants, end)]
    const isAnswered = instants.some((at) => at >= begin && at <= end)
    const found = new Map<string, { contributed: number | null; quality: string }>()
    for (const player of present(answers, begin, end)) {
      const own = spells.filter(
        (spell) => spell.player === player && (spell.values[0]?.at ?? end) <= end && spell.ends > begin,
      )
      const isNew = ({ joined }: Spell) => sinceJoining && joined >= (first.isClose ? (first.before ?? begin) : begin)
      const isSure =
        first.isClose &&
        last.isClose &&
        own.every(
          (spell) =>
            edgesOf(spell, first.after, end).every((at) => isCloseBefore(instants, at)) &&
            (isNew(spell) || spell.values.some(({ at }) => at <= begin)),
        )
      const gained = own.flatMap((spell): { gained: number; quality: string }[] => {
        if (!isSure && spell.ends <= (first.after ?? Number.POSITIVE_INFINITY)) return []
        const isWhole = isSure ? isNew(spell) : sinceJoining && spell.joined >= begin
        const since = isSure || isWhole ? begin : (first.after ?? Number.POSITIVE_INFINITY)
        const within = spell.gains.filter(({ at }) => at > since && at <= end)
        if (!isSure) return [{ gained: leastOf(spell, since, end, isWhole), quality: 'at_least' }]
        return [
          { gained: 0, quality: 'exact' },
          ...within.map(({ gained, whole, quality }) => ({ gained: isWhole ? (whole ?? gained) : gained, quality })),
        ]
      })
      const sum = gained.reduce((total, one) => total + one.gained, 0)
      const worst = Math.max(...gained.map(({ quality }) => severity.indexOf(quality)))
      found.set(
        player,
        isAnswered && gained.length > 0
          ? { contributed: sum, quality: severity[worst] ?? '' }
          : { contributed: null, quality: 'unknown' },
      )
    }
    return found
  }
}

function leastOf({ gains }: Spell, since: number, end: number, isWhole: boolean): number {
  const before = isWhole ? (gains[0]?.whole ?? 0) : 0
  const rises = gains.reduce(
    (sum, { at, gained, whole }) => sum + (at > since && at <= end ? (isWhole ? (whole ?? gained) : gained) : 0),
    0,
  )
  const [base, last] = [gains.findLast(({ at }) => at <= since), gains.findLast(({ at }) => at <= Math.max(since, end))]
  const [begun, ended] = [base ? base.highest + before : 0, last ? last.lowest + before : 0]
  return Math.max(0, Math.min(rises, ended - begun))
}

/** Where a spell begins or ends within an interval, after its first answer. */
function edgesOf({ values, ends }: Spell, first: number | undefined, end: number): number[] {
  const begins = values[0]?.at ?? end
  return [...(begins > (first ?? Number.POSITIVE_INFINITY) ? [begins] : []), ...(ends <= end ? [ends] : [])]
}

/** The answers around an instant, and whether they lie within two of the intervals that are usual there. */
function borderOf(instants: readonly number[], at: number) {
  const [until, later] = [instants.filter((one) => one <= at).slice(-5), instants.filter((one) => one > at).slice(0, 5)]
  const before = until.at(-1)
  const after = before === at ? at : later[0]
  const isClose = before !== undefined && (after ?? Math.min(at, Date.now())) - before <= usualOf([until, later])
  return { before, after, isClose }
}

/** The same of the answer before another one, by those before it. */
function isCloseBefore(instants: readonly number[], at: number): boolean {
  const before = instants.filter((one) => one < at).slice(-5)
  return at - (before.at(-1) ?? 0) <= usualOf([before])
}

function usualOf(some: readonly (readonly number[])[]): number {
  const steps = some
    .flatMap((near) => near.slice(1).map((one, nth) => one - (near[nth] ?? one)))
    .filter((step) => step > 0)
    .sort((a, b) => a - b)
  const usual = steps[Math.ceil(steps.length / 2) - 1]
  return Math.max(300_000, Math.min(6 * 3_600_000, usual === undefined ? 3_600_000 : 2 * usual))
}

function spellsOf(answers: readonly Answered[]): Spell[] {
  const spells = new Map<string, { player: string; joined: number; values: { at: number; value: number }[] }>()
  for (const { at, members } of answers)
    for (const [player, { joined, contributed }] of members) {
      const name = `${player} ${joined}`
      const spell = spells.get(name) ?? { player, joined: Date.parse(joined), values: [] }
      spells.set(name, spell)
      spell.values.push({ at: at.getTime(), value: contributed })
    }
  return [...spells.values()].map((spell) => {
    const last = spell.values.at(-1)?.at ?? 0
    const ends = answers.find(({ at }) => at.getTime() > last)?.at.getTime() ?? Number.POSITIVE_INFINITY
    return { ...spell, ends, gains: gainsOf(spell.values) }
  })
}

/**
 * Who was a member at some time of the interval: from the first answer that showed it until the first that did not. One whom a single answer
 * lacks, and the next one shows since the same time, was there all along.
 */
function present(answers: readonly Answered[], begin: number, end: number): Set<string> {
  const found = new Set<string>()
  answers.forEach(({ at, members }, nth) => {
    const until = answers[nth + 1]?.at.getTime() ?? Number.POSITIVE_INFINITY
    if (at.getTime() > end || until <= begin) return
    for (const player of members.keys()) found.add(player)
    const [before, after] = [answers[nth - 1]?.members, answers[nth + 1]?.members]
    for (const [player, { joined }] of before ?? []) if (after?.get(player)?.joined === joined) found.add(player)
  })
  return found
}

function gainsOf(values: readonly { at: number; value: number }[]): Gain[] {
  let level: number | null = null
  let highest: number | null = null
  let last: number | null = null
  const rows = values.flatMap(({ at, value }, nth) => {
    // A sample is a change; what stays says nothing new.
    if (value === last) return []
    const later = values.slice(nth + 1).map((one) => one.value)
    const coming = Math.max(value, ...later)
    const isReset = last !== null && last > coming
    if (isReset) level = null
    const taken: number | null = highest
    const doubts = taken === null ? [] : later.filter((one) => one >= taken && one < value)
    const believed = Math.min(value, ...doubts)
    const gained = level === null || last === null ? 0 : Math.max(0, Math.min(believed - level, value - last))
    // Not all of the rise is counted, or more than it.
    const isClamped = believed < value || (last !== null && gained !== value - last)
    level = Math.max(level ?? believed, believed)
    highest = Math.max(highest ?? value, value)
    last = value
    const whole = nth === 0 ? believed : null
    const quality = isReset ? ('reset' as const) : isClamped ? ('clamped' as const) : ('exact' as const)
    return [{ at, value, gained, whole, quality }]
  })
  let [together, start, most] = [0, 0, 0]
  const reached = rows.map((row, nth) => {
    together += row.gained
    if (nth === 0 || row.quality === 'reset') [start, most] = [together - row.value, row.value]
    most = Math.max(most, row.value)
    return { ...row, lowest: start + most, isDip: row.value < most }
  })
  return reached.map(({ value: _, isDip: __, ...row }, nth) => {
    const next = reached.findIndex((one, place) => place > nth && one.quality === 'reset')
    const own = reached.slice(nth, next < 0 ? undefined : next)
    // In a dip it may have risen: by what comes after it.
    return { ...row, highest: own.find(({ isDip }) => !isDip)?.lowest ?? row.lowest }
  })
}
