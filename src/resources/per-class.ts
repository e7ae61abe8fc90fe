import { type CallOptions, isPathValue } from '../api/call.ts'
import type { Api } from '../api/client.ts'
import type { ApiResponse } from '../api/response.ts'
import { RetryableError } from '../base/errors.ts'
import type { ExtractOptions } from '../sync/declare/resource.ts'
import { severalAnswers } from './record.ts'

/** A wrong list must not become thousands of requests. */
const mostClasses = 20

/** Asks for the list of classes, then for something of each, and takes records from that. */
export async function perClass<Answer extends ApiResponse<unknown>>(
  api: Api,
  { signal, lane }: ExtractOptions,
  ask: (name: string, call: CallOptions) => Promise<readonly Answer[]>,
  recordsOf: (name: string, answers: readonly Answer[]) => readonly unknown[],
) {
  const list = await api.classes.list({ signal, lane })
  const answers: ApiResponse<unknown>[] = [list]
  const records: unknown[] = []
  let emptyClass: string | undefined
  const names = Object.keys(list.body)
  if (names.length > mostClasses) throw new RetryableError(`${names.length} classes are listed; there were five so far`)
  const wrong = names.find((name) => !isPathValue(name))
  if (wrong !== undefined)
    throw new RetryableError(`${JSON.stringify(wrong)} is listed as a class: no path can have it`)
  for (const name of names) {
    const found = await ask(name, { signal, lane })
    const own = recordsOf(name, found)
    if (own.length === 0) emptyClass ??= name
    answers.push(...found)
    records.push(...own)
  }
  // What there is of the others may be enough to be plausible, and what belongs to the class would count as gone.
  const validationError = emptyClass && `the class ${emptyClass} has no records`
  return { records, ...severalAnswers(answers), validationError }
}
