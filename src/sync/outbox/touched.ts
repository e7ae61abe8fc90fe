import type { History, RelatedHistory } from '../declare/entity.ts'
import type { Json } from '../normalize/hash.ts'
import type { Loaded } from '../respond/load.ts'

/** What a response changed, by name; only of resources that are not about people. */
export interface Touched {
  /** Keys of records that appeared, changed or disappeared. */
  readonly keys: Set<string>
  /** Keys of other resources that the changes are about. */
  readonly concerns: Set<string>
}

export function addTouched(touched: Touched, history: History | RelatedHistory, loaded: Loaded): void {
  const concerns = 'concerns' in history ? history.concerns : undefined
  const add = (key: string, documents: readonly (Json | undefined)[]) => {
    touched.keys.add(key)
    for (const document of concerns ? documents : [])
      if (document !== undefined) for (const one of concerns?.(document) ?? []) touched.concerns.add(one)
  }
  const appeared = loaded.inserted.map((entity) => ({ entity, before: undefined }))
  for (const { entity, before } of [...appeared, ...loaded.changed])
    add(entity.key, [before, JSON.parse(entity.documentText) as Json])
  for (const { key, document, before } of loaded.withdrawn) add(key, [document, before])
}
