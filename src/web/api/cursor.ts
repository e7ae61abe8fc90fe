import { createHash } from 'node:crypto'
import * as z from 'zod'
import { filterText, readFilters } from '../../questions/asking/filters.ts'
import type { Position } from '../../questions/asking/page.ts'
import type { Asked } from '../../questions/asking/statement.ts'
import type { Question } from '../../questions/questions.ts'
import { Problem } from '../http/problems.ts'
import type { Requested } from './arguments.ts'

/** What a cursor holds: arguments and filters as they were read for the first page, so that `now` stays the same, and a position. */
const content = z.object({
  given: z.string(),
  arguments: z.array(z.tuple([z.string(), z.string()])),
  after: z.union([z.object({ keys: z.array(z.string().nullable()) }), z.object({ skip: z.int().min(0).max(1e9) })]),
})

/** Where the next page begins. */
interface Cursor {
  readonly asked: Pick<Asked, 'args' | 'filters'>
  readonly after: Position
}

export function cursorText(question: Question, request: Requested, { asked, after }: Cursor): string {
  const pairs = [
    ...asked.args.map(({ name, value }) => [name, value]),
    ...asked.filters.map((one) => [one.name, filterText(one)]),
  ]
  const text = JSON.stringify({ given: digest(question, request), arguments: pairs, after })
  return Buffer.from(text).toString('base64url')
}

/** @throws Problem when it is none, or belongs to another question, other arguments or another order */
export function readCursor(question: Question, request: Requested, text: string): Cursor {
  const read = content.safeParse(parsed(text))
  if (!read.success) throw unreadableCursor()
  if (read.data.given !== digest(question, request)) {
    throw new Problem('bad-argument', { detail: 'cursor belongs to other arguments', argument: 'cursor' })
  }
  return { asked: typed(question, read.data.arguments), after: read.data.after }
}

/** The problem with a cursor that this server did not make. */
export function unreadableCursor(): Problem {
  return new Problem('bad-argument', { detail: 'cursor cannot be read', argument: 'cursor' })
}

/** Arguments in the order of the parameters, then filters. @throws Problem, WrongArgument when they do not fit */
function typed(question: Question, pairs: readonly (readonly [string, string])[]): Cursor['asked'] {
  const { parameters } = question
  const required = parameters.filter(({ optional }) => !optional).length
  const args = pairs.flatMap(([name, value], place) => {
    const one = parameters[place]
    return one?.name === name ? [{ name, type: one.type, value }] : []
  })
  if (args.length < required) throw unreadableCursor()
  // Its instants are no words any more.
  return { args, filters: readFilters(question, pairs.slice(args.length), 0) }
}

function parsed(text: string): unknown {
  try {
    const content = Buffer.from(text, 'base64url').toString()
    // Postgres has no place for it in a text.
    return content.includes('\\u0000') ? undefined : JSON.parse(content)
  } catch {
    return undefined
  }
}

function digest({ name }: Question, { given, order }: Requested): string {
  // Whoever asks for the next page may name them in another order.
  const pairs = given.map((one) => JSON.stringify(one)).sort()
  return createHash('sha256')
    .update(JSON.stringify(order === undefined ? [name, pairs] : [name, pairs, order]))
    .digest('base64url')
    .slice(0, 16)
}
