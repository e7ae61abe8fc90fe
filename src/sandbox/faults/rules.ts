import { UsageError } from '../../base/errors.ts'
import { type FaultName, faultNames, isFaultName } from './catalogue.ts'

/** When and where one fault happens. */
export interface FaultRule {
  readonly fault: FaultName
  /** The share of responses that it spoils, 0..1. */
  readonly share: number
  /** Only from this instant on, ms since the epoch. */
  readonly from?: number | undefined
  /** Only before this instant, ms since the epoch. */
  readonly until?: number | undefined
  /** Only paths that begin like this, below the base path. */
  readonly path?: string | undefined
}

/** What a person may say of one fault: its share, or more. Instants are ISO text, or seconds from now. */
export type FaultWish =
  | number
  | {
      readonly share?: number | undefined
      readonly from?: string | number | undefined
      readonly until?: string | number | undefined
      readonly path?: string | undefined
    }

/** A plan as text (`storm:0.1,html:0.05`, `all`), or by name; `all` stands for every fault. */
export type FaultSpec = string | Readonly<Record<string, FaultWish>>

/** The share of a fault without a share, alone and when all are wanted. */
const usualShare = { one: 0.1, all: 0.02 }

const form = /^([\w-]+)(?::([\d.]+))?(?:@(\d+)?-(\d+)?)?(\/\S*)?$/

/**
 * Reads a plan. The text is `name[:share][@from-until][/path]`, several joined by commas: `gateway:0.5@60-120/guild`
 * spoils half of all responses below /guild from the 60th to the 120th second.
 * @param now ms since the epoch, where seconds are counted from
 * @throws UsageError that says what to write instead
 */
export function readFaults(spec: unknown, now: number): FaultRule[] {
  if (typeof spec === 'string') {
    const words = spec.trim()
    if (words.startsWith('{')) return readFaults(parsed(words), now)
    return words === '' ? [] : words.split(',').flatMap((word) => fromText(word.trim(), now))
  }
  if (typeof spec === 'object' && spec !== null && !Array.isArray(spec))
    return Object.entries(spec).flatMap(([name, wish]) => rulesOf(name, wish, now))
  throw wrong(JSON.stringify(spec))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw wrong(text)
  }
}

function fromText(word: string, now: number): FaultRule[] {
  const [, name, share, from, until, path] = form.exec(word) ?? []
  if (name === undefined) throw wrong(word)
  const seconds = (text: string | undefined) => (text === undefined ? undefined : Number(text))
  return rulesOf(name, { share: seconds(share), from: seconds(from), until: seconds(until), path }, now)
}

function rulesOf(name: string, wish: unknown, now: number): FaultRule[] {
  if (name === 'all') return faultNames.flatMap((one) => ruleOf(one, wish, usualShare.all, now))
  if (isFaultName(name)) return [ruleOf(name, wish, usualShare.one, now)]
  throw new UsageError(`no fault is called ${name}; there are: all, ${faultNames.join(', ')}`)
}

function ruleOf(fault: FaultName, wish: unknown, usual: number, now: number): FaultRule {
  if (typeof wish === 'number') return ruleOf(fault, { share: wish }, usual, now)
  if (typeof wish !== 'object' || wish === null) throw wrong(JSON.stringify({ [fault]: wish }))
  const given: Record<string, unknown> = { ...wish }
  const { share = usual, path } = given
  if (typeof share !== 'number' || !(share >= 0 && share <= 1))
    throw new UsageError(`the share of ${fault} must be from 0 to 1, found ${JSON.stringify(share)}`)
  if (path !== undefined && (typeof path !== 'string' || !path.startsWith('/')))
    throw new UsageError(`the path of ${fault} must begin with /, found ${JSON.stringify(path)}`)
  return { fault, share, path, from: instant(given.from, now), until: instant(given.until, now) }
}

function instant(given: unknown, now: number): number | undefined {
  if (given === undefined) return undefined
  if (typeof given === 'number' && Number.isFinite(given)) return now + given * 1000
  const at = typeof given === 'string' ? Date.parse(given) : Number.NaN
  if (!Number.isNaN(at)) return at
  throw new UsageError(`from and until are ISO instants, or seconds from now; found ${JSON.stringify(given)}`)
}

function wrong(found: string): UsageError {
  return new UsageError(
    `faults are written like storm:0.1,gateway:0.5@60-120/guild, all, or {"storm": {"share": 0.1}}; found ${found}`,
  )
}
