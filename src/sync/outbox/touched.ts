import type { History, RelatedHistory } from '../entity.ts'
import type { Loaded } from '../load/load.ts'
import type { Json } from '../normalize/hash.ts'

/** What a response changed, by name; only of resources that are not about people. */
export interface Touched {
  /** Keys of records that appeared, changed or disappeared. */
  readonly keys: Set<string>
  /** Keys of other resources that the changes are about. */
  readonly concerns: Set<string>
}

/** Adds what a load changed. */
export function addTouched(touched: Touched, history: History | RelatedHistory, loaded: Loaded): void {
  const concerns = 'concerns' in history ? (history.concerns ?? none) : none
  for (const { key, documentText } of loaded.inserted) {
    touched.keys.add(key)
    if (concerns !== none) for (const one of concerns(JSON.parse(documentText) as Json)) touched.concerns.add(one)
  }
  for (const { entity, before } of loaded.changed) {
    touched.keys.add(entity.key)
    if (concerns === none) continue
    for (const document of [before, JSON.parse(entity.documentText) as Json])
      for (const one of concerns(document)) touched.concerns.add(one)
  }
}

const none = (): readonly string[] => []
