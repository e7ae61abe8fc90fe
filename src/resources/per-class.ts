import { type CallOptions, isPathValue } from '../api/call.ts'
import type { Api } from '../api/client.ts'
import { isOfRequest, Unavailable } from '../api/errors.ts'
import { fieldsOf } from '../api/schemas/form/unknown.ts'
import { itemVocabulary } from '../api/schemas/items.ts'
import type { ExtractOptions, FileResponse } from '../sync/declare/resource.ts'
import { severalParts } from './record.ts'

/** The names of classes, as files are called after them. */
const classNames = itemVocabulary.classRequirement

/**
 * Tells which requests a file responds to: that of one class, which its content or name says, or those of all classes, as fields of
 * one object.
 * @param forms what each request responds, by its path without the class
 * @param classOf the class that a body itself names; absent: it names none
 */
export function filesOfClasses(
  forms: Readonly<Record<string, (body: unknown) => boolean>>,
  classOf: (body: unknown) => string | undefined = () => undefined,
) {
  return (body: unknown, path: string): readonly FileResponse[] => {
    for (const [target, isForm] of Object.entries(forms)) {
      const name = isForm(body) ? (classOf(body) ?? classIn(path)) : undefined
      if (name !== undefined) return [{ target: target + name }]
      const fields = fieldsOf(body)
      if (fields.length > 0 && fields.every(([field, part]) => /^[a-z]+$/.test(field) && isForm(part)))
        return fields.map(([field]) => ({ target: target + field, field }))
    }
    return []
  }
}

/** The class in the name of a file, or else of a folder that it is in. */
function classIn(path: string): string | undefined {
  for (const name of path.toLowerCase().split('/').reverse()) {
    const found = classNames.filter((one) => name.split(/[^a-z]+/).includes(one))
    if (found.length === 1) return found[0]
  }
  return undefined
}

/** A wrong list must not become thousands of requests. */
const mostClasses = 20

/**
 * Asks for the list of classes, then for something of each, and takes records from that. A list that fails, or names none, costs only what
 * it alone would show: the classes that are known have theirs, and nothing follows from what is lacking.
 */
export async function perClass(
  api: Api,
  { signal, lane }: ExtractOptions,
  partsOf: (name: string, call: CallOptions) => Parts,
) {
  const list = await api.classes.list({ signal, lane }).catch((error: unknown) => {
    if (isOfRequest(error)) return error
    throw error
  })
  const names = list instanceof Error ? [] : Object.keys(list.body)
  const isListed = names.length > 0 && names.length <= mostClasses
  if (!(list instanceof Error) && isListed) return await severalParts(partsOfAll(names), list)
  const error =
    list instanceof Error ? list : new Unavailable(`${names.length} classes are listed; there were five so far`)
  return await severalParts([failed(error), ...partsOfAll(classNames)])

  function partsOfAll(of: readonly string[]): Parts {
    return of.flatMap((name) =>
      isPathValue(name)
        ? partsOf(name, { signal, lane })
        : [failed(new Unavailable(`${JSON.stringify(name)} is listed as a class: no path can have it`))],
    )
  }
}

type Parts = Parameters<typeof severalParts>[0]

const failed = (error: Error): Parts[number] => ({ ask: () => Promise.reject(error) })
