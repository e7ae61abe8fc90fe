import { isDeepStrictEqual } from 'node:util'
import { type Fields, isFields } from './recorded.ts'

/** One field that differs; an item that is new or gone differs at the empty path. */
export type Difference = [key: string, path: string, before: unknown, after: unknown]

/** Every field that differs: objects are entered, everything else is compared as a whole. */
export function differences(before: Map<string, Fields>, after: Map<string, Fields>): Difference[] {
  const found: Difference[] = []
  const compare = (key: string, path: string, old: unknown, young: unknown) => {
    if (isDeepStrictEqual(old, young)) return
    if (!isFields(old) || !isFields(young)) return void found.push([key, path, old ?? null, young ?? null])
    for (const name of new Set([...Object.keys(old), ...Object.keys(young)])) {
      compare(key, `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, old[name], young[name])
    }
  }
  for (const key of new Set([...before.keys(), ...after.keys()])) compare(key, '', before.get(key), after.get(key))
  return found.sort(byPlace)
}

/** Orders differences by key and path. */
export function byPlace(a: Difference, b: Difference): number {
  return `${a[0]}\n${a[1]}` < `${b[0]}\n${b[1]}` ? -1 : 1
}
