import type { Dates } from '../../api/http/response-headers.ts'
import { earliest } from '../declare/ignored.ts'
import type { ClockSetting } from '../evidence/policies.ts'

const minute = 60_000
/** Two clocks that differ by no more than this tell the same time: requests take a while, and headers count seconds. ms */
export const AGREEING_CLOCKS = 2 * minute
/** Where they differ by no more than this, the one of this machine is near enough: an hour, as by summer time, and what a request takes. ms */
const USABLE_CLOCK = 60.5 * minute

/** What was odd about how a response was dated, as a guard action. */
interface ClockRemark {
  readonly guard: 'clock' | 'header'
  readonly action: 'accepted' | 'ignored'
  readonly reason: string
}

/** What the clocks and headers of a response come to. */
export interface Dated extends Pick<Dates, 'observedFrom' | 'observedAt'> {
  /** Why its instant cannot be right; undefined when it can. */
  readonly clockError?: string | undefined
  /** What had to be guessed. */
  readonly dating: readonly ClockRemark[]
  /** Its instant says that it comes after the last accepted response, and not how long after. */
  readonly isOrderOnly?: boolean
}

/** How the clocks decide when a response was made. */
export function dateByClocks(dates: Omit<Dates, 'isUndated'>, setting: ClockSetting = 'both'): Dated {
  const { clockSkew, oddHeaders } = dates
  const dating = oddHeaders.map(oddHeaderRemark)
  const off = clockSkew ?? 0
  // `observedAt` is by the clock of `Date`; minus what that is ahead, it is by the clock of this machine.
  const byMachine = { observedFrom: dates.observedFrom - off, observedAt: dates.observedAt - off }
  const dated = isByMachine(off, setting) ? byMachine : dates
  const { observedFrom, observedAt } = dated
  const clockError = clockErrorOf({ ...dates, observedFrom }, setting)
  if (clockError === undefined && setting === 'both' && dated === byMachine)
    dating.push({ guard: 'clock', action: 'accepted', reason: `${differenceText(off)}: dated by the latter` })
  return { observedFrom, observedAt, dating, ...(clockError === undefined ? {} : { clockError }) }
}

function isByMachine(off: number, setting: ClockSetting): boolean {
  return setting === 'machine' || (setting === 'both' && Math.abs(off) > AGREEING_CLOCKS)
}

function clockErrorOf({ clockSkew, observedFrom }: Dates | Omit<Dates, 'isUndated'>, setting: ClockSetting) {
  if (setting === 'api' && clockSkew === null)
    return 'the response has no Date header, and WYNNSYNC_CLOCK=api trusts no other'
  if (setting === 'both' && Math.abs(clockSkew ?? 0) > USABLE_CLOCK)
    return `${differenceText(clockSkew ?? 0)}; nothing is loaded until they agree within an hour`
  if (observedFrom >= earliest) return undefined
  return `the response speaks for ${new Date(observedFrom).toISOString()}, before the game began`
}

function differenceText(off: number): string {
  const minutes = Math.round(Math.abs(off) / minute)
  return `the API's clock is ${minutes} minutes ${off > 0 ? 'ahead of' : 'behind'} this machine's`
}

function oddHeaderRemark(header: string): ClockRemark {
  const reason = `${header} says an age that the response cannot have; it counts as absent`
  return { guard: 'header', action: 'ignored', reason }
}

/**
 * The instants of a response that comes after another one. Where that one lies ahead of both clocks, because one of them was ahead
 * then, nothing would be newer for as long: order goes on from there.
 * @param last the instant of the last accepted response; all are ms since the epoch
 * @param receivedAt when this one came, by the clock of this machine
 */
export function dateAfter<T extends Partial<Dates & Dated>>(dated: T, last: number | undefined, receivedAt: number): T {
  const { clockSkew, clockError, dating = [] } = dated
  const latest = receivedAt + Math.max(0, clockSkew ?? 0) + AGREEING_CLOCKS
  if (last === undefined || last <= latest || clockError !== undefined) return dated
  const at = last + 1
  const ahead = new Date(last).toISOString().slice(0, 16)
  const reason = `the last accepted response, of ${ahead} UTC, lies ahead of both clocks: this one is put right after it`
  return {
    ...dated,
    observedFrom: at,
    observedAt: at,
    isOrderOnly: true,
    dating: [...dating, { guard: 'clock', action: 'accepted', reason }],
  }
}
