import type { Engine } from './remote-engine.ts'

/*
 * What comes again is parsed once, and mostly planned once: it becomes a statement with a name, and what Postgres says of its parameters and columns
 * is kept with it. Of the six messages that PGlite sends for a statement, Bind, Execute and Sync are left. What comes once, as in a poll by cron,
 * is sent as ever.
 */

type Messages = Awaited<ReturnType<Engine['execProtocolStream']>>

interface Prepared {
  readonly name: Uint8Array
  readonly parameters: Messages
  readonly columns: Messages
  /** At which use it is closed. */
  readonly limit: number
  uses: number
}

/** The statement whose messages are being sent. */
interface Current {
  readonly text: string
  readonly parse: Uint8Array
  readonly name: Uint8Array
  readonly limit: number
  prepared: Prepared | undefined
}

/** How many statements are kept: Postgres takes 60 kB for one. And how many texts are remembered that came once. */
const KEPT = 100
const SEEN = 300
/**
 * How often one is used: a plan for a table with few rows stays, however many come, until statistics are gathered. A table that begins grows
 * fastest, so the first time fewer, then twice as often each time.
 */
const USES = { first: 16, most: 100 }
/** From how many bytes of parameters a statement is planned for what it gets: a plan for any list is one for ten values. */
const LARGE = 64 * 1024

const PLANNED = /^[\s(]*(select|insert|update|delete|merge|with|values)\b/i
/**
 * What may change the columns of a statement, or how a literal in it is read: what was prepared before would fail with "cached plan must not change
 * result type", and so would, when this is rolled back, what is prepared after it.
 */
const CHANGES =
  /\b(create|alter|drop|discard|deallocate|search_path|datestyle|intervalstyle|time\s*zone)\b|\bdo\s+(\$|language\b)/i
const SEVERAL = /;\s*\S/
/** Questions vary, and other values may need quite another plan. */
const QUESTIONS = /\btransaction\s+read\s+only\b/i
const BOUNDS = /^\s*(begin|commit|rollback|end|abort)\s*;?\s*$/i

/** What came before. */
function keptStatements() {
  const seen = new Set<string>()
  const kept = new Map<string, Prepared>()
  /** Names that are to be closed. */
  const left: Uint8Array[] = []
  let mayPrepare = true
  let count = 0
  return {
    left,
    /** @param letter of the message: a simple query may hold several statements */
    notice(text: string, letter: string): void {
      if (PLANNED.test(text) && !(letter === 'Q' && SEVERAL.test(text))) return
      if (CHANGES.test(text)) {
        for (const { name } of kept.values()) left.push(name)
        kept.clear()
        mayPrepare = false
      } else if (QUESTIONS.test(text)) mayPrepare = false
      else if (BOUNDS.test(text)) mayPrepare = true
    },
    /** The statement with a name; undefined where it is sent as it is. */
    find(text: string, parse: Uint8Array): Current | undefined {
      if (!mayPrepare || !PLANNED.test(text)) return undefined
      const prepared = kept.get(text)
      if (prepared && ++prepared.uses < prepared.limit)
        return { text, parse, prepared, name: prepared.name, limit: prepared.limit }
      if (prepared) left.push(prepared.name)
      if (kept.delete(text) || seen.delete(text)) {
        const limit = prepared ? Math.min(2 * prepared.limit, USES.most) : USES.first
        return { text, parse, prepared: undefined, limit, name: Buffer.from(`wynnsync ${++count}`) }
      }
      seen.add(text)
      if (seen.size > SEEN) seen.delete(oldestOf(seen))
      return undefined
    },
    forget(text: string, name: Uint8Array): void {
      kept.delete(text)
      left.push(name)
    },
    keep(text: string, prepared: Prepared): void {
      kept.delete(text)
      kept.set(text, prepared)
      if (kept.size <= KEPT) return
      const oldest = oldestOf(kept)
      left.push(kept.get(oldest)?.name ?? prepared.name)
      kept.delete(oldest)
    },
  }
}

/**
 * Makes an engine prepare what it gets from now on.
 * @returns what each message is to be passed through that reaches the session without `execProtocolStream`
 */
export function prepareRepeated(engine: Engine): (message: Uint8Array) => Uint8Array {
  const send = engine.execProtocolStream.bind(engine)
  const { left, notice, find, keep, forget } = keptStatements()
  let current: Current | undefined

  async function describe({ name, limit }: Current, message: Uint8Array, options?: object): Promise<Prepared> {
    const all = await send(withName(message, 6, name), options)
    const of = (kind: string) => all.filter((one) => one.name === kind)
    return { name, parameters: of('parameterDescription'), columns: of('rowDescription'), limit, uses: 1 }
  }

  async function sendNamed(current: Current, message: Uint8Array, options?: object): Promise<Messages> {
    const letter = letterAt(message, 0)
    if (letter === 'P') return await send(withName(message, 5, current.name), options)
    if (letter === 'B') return await send(withName(message, 6, current.name), options)
    if (letter !== 'D') return await send(message, options)
    current.prepared ??= await describe(current, message, options)
    const { parameters, columns } = current.prepared
    if (letterAt(message, 5) === 'P') return columns
    keep(current.text, current.prepared)
    return parameters
  }

  engine.execProtocolStream = async (message, options) => {
    const letter = letterAt(message, 0)
    const text = statementOf(message)
    if (text !== undefined) {
      notice(text, letter)
      current = letter === 'P' ? find(text, message) : undefined
      if (current) for (const name of left.splice(0)) await send(closing(name), options)
      if (current?.prepared) return []
    }
    if (letter === 'B' && current?.prepared && message.length > LARGE) {
      await send(current.parse, options)
      current = undefined
    }
    if (!current) return await send(message, options)
    const { text: failed, name } = current
    return await sendNamed(current, message, options).catch((error: unknown) => {
      // It may be that its columns are others now, or that it was parsed before this failed.
      forget(failed, name)
      throw error
    })
  }

  return (message) => {
    notice(statementOf(message) ?? '', letterAt(message, 0))
    return message
  }
}

const letterAt = (message: Uint8Array, at: number) => String.fromCharCode(message[at] ?? 0)

function oldestOf(all: ReadonlySet<string> | ReadonlyMap<string, unknown>): string {
  const [oldest = ''] = all.keys()
  return oldest
}

/** The text that a simple query or Parse has. */
function statementOf(message: Uint8Array): string | undefined {
  const letter = letterAt(message, 0)
  if (letter !== 'Q' && letter !== 'P') return undefined
  const all = Buffer.from(message.buffer, message.byteOffset, message.byteLength)
  const from = letter === 'Q' ? 5 : all.indexOf(0, 5) + 1
  return all.toString('utf8', from, all.indexOf(0, from))
}

/** A message of a statement without a name, with one. */
function withName(message: Uint8Array, at: number, name: Uint8Array): Uint8Array {
  const all = Buffer.concat([message.subarray(0, at), name, message.subarray(at)])
  all.writeInt32BE(all.length - 1, 1)
  return all
}

function closing(name: Uint8Array): Uint8Array {
  return withName(Buffer.from('C\0\0\0\0S\0'), 6, name)
}
