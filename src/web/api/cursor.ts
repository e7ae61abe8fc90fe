import { createHash } from 'node:crypto'
import * as z from 'zod'
import type { Position } from '../../analytics/asking/page.ts'
import type { Argument, Question } from '../../analytics/questions.ts'
import { Problem } from '../http/problems.ts'

/** What a cursor holds: the arguments as they were read for the first page, so that `now` stays the same, and a position. */
const content = z.object({
  given: z.string(),
  arguments: z.array(z.tuple([z.string(), z.string()])),
  after: z.union([z.object({ keys: z.array(z.string().nullable()) }), z.object({ skip: z.int().min(0) })]),
})

/** Where the next page begins. */
interface Cursor {
  readonly arguments: readonly Argument[]
  readonly after: Position
}

/** @param given name and value of each argument as requested */
export function cursorText(question: Question, given: readonly (readonly [string, string])[], cursor: Cursor): string {
  const pairs = cursor.arguments.map(({ name, value }) => [name, value])
  const text = JSON.stringify({ given: digest(question, given), arguments: pairs, after: cursor.after })
  return Buffer.from(text).toString('base64url')
}

/** @throws Problem when it is none, or belongs to another question or other arguments */
export function readCursor(question: Question, given: readonly (readonly [string, string])[], text: string): Cursor {
  const read = content.safeParse(parsed(text))
  if (!read.success) throw unreadableCursor()
  if (read.data.given !== digest(question, given)) {
    throw new Problem('bad-argument', { detail: 'cursor belongs to other arguments', argument: 'cursor' })
  }
  const args = typed(question, read.data.arguments)
  if (!args) throw unreadableCursor()
  return { arguments: args, after: read.data.after }
}

/** The problem with a cursor that this server did not make. */
export function unreadableCursor(): Problem {
  return new Problem('bad-argument', { detail: 'cursor cannot be read', argument: 'cursor' })
}

/** The arguments with their types: of a function in the order of its parameters. Undefined when they do not fit. */
function typed(
  { kind, parameters, columns }: Question,
  pairs: readonly (readonly [string, string])[],
): Argument[] | undefined {
  const required = parameters.filter(({ optional }) => !optional).length
  const found = pairs.flatMap(([name, value], place) => {
    const one = kind === 'function' ? parameters[place] : columns.find((column) => column.name === name)
    return one?.name === name ? [{ name, type: one.type, value }] : []
  })
  return found.length === pairs.length && found.length >= required ? found : undefined
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

function digest({ name }: Question, given: readonly (readonly [string, string])[]): string {
  return createHash('sha256')
    .update(JSON.stringify([name, given]))
    .digest('base64url')
    .slice(0, 16)
}
