import { type ExampleValues, valuesOf } from '../../questions/examples.ts'
import type { Question } from '../../questions/questions.ts'

/** Path of the question with an answer to look at; undefined when it needs a value that is not there. */
export function examplePath({ name, kind, parameters }: Question, values: ExampleValues): string | undefined {
  const known = valuesOf({ name }, values)
  const query = new URLSearchParams()
  if (kind === 'view') query.set('limit', '10')
  for (const one of parameters) {
    if (one.optional || /^(from|to)_time$/.test(one.name)) continue
    const value = known[one.name]
    if (value === null || value === undefined) return undefined
    query.set(one.name, value)
  }
  return `/api/v1/${name}${query.size > 0 ? `?${query}` : ''}`
}
