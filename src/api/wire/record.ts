import { z } from 'zod'
import { RecordError } from '../../errors.ts'

/** One of the names known today, or any other text: an unknown member is kept, not refused. */
export type Known<Name extends string> = Name | (string & Record<never, never>)

/** Text that is usually one of `names`; any text passes. */
export function known<const Names extends readonly string[]>(_names: Names): z.ZodType<Known<Names[number]>> {
  return z.string()
}

/**
 * A parser that throws RecordError for the first thing that does not fit. The error's context has `path` (JSON pointer
 * into the record), `expected` and `found` (shortened).
 * @param name what the record is, for the message
 */
export function recordParser<Schema extends z.ZodType>(name: string, schema: Schema) {
  return (record: unknown): z.output<Schema> => {
    const result = schema.safeParse(record)
    if (result.success) return result.data
    const { path, expected } = firstProblem(result.error.issues)
    const pointer = path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
    const found = show(valueAt(record, path))
    const place = pointer === '' ? 'the record itself' : pointer
    throw new RecordError(`${name}: ${place} should be ${expected}, found ${found}`, {
      context: { path: pointer, expected, found },
    })
  }
}

type Issue = z.core.$ZodIssue

function firstProblem(issues: readonly Issue[]): { path: readonly PropertyKey[]; expected: string } {
  const [issue] = issues
  if (issue === undefined) return { path: [], expected: 'something else' }
  if (issue.code === 'invalid_type') return { path: issue.path, expected: issue.expected }
  if (issue.code !== 'invalid_union') return { path: issue.path, expected: issue.message }
  // Of the alternatives, the one whose problem lies deepest is the one that was meant.
  const inner = issue.errors.map((alternative) => firstProblem(alternative))
  const deepest = inner.reduce((best, one) => (one.path.length > best.path.length ? one : best), {
    path: [],
    expected: '',
  })
  if (deepest.path.length > 0) return { path: [...issue.path, ...deepest.path], expected: deepest.expected }
  return { path: issue.path, expected: [...new Set(inner.map((one) => one.expected))].join(' or ') }
}

function valueAt(record: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    record,
  )
}

function show(value: unknown): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value)
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`
}
