import type { WorldSource } from '../world-source.ts'
import { type ContentSettings, contentSource } from './source.ts'

const families = /^\/(ability|aspects|classes|publisher|latest-news|map)(\/|$)/

/** Puts the content without a simulation around the items of a world. */
export function withContent(items: WorldSource, settings: Omit<ContentSettings, 'items'>): WorldSource {
  const content = contentSource({ ...settings, items: () => items.itemWorld().items })
  return {
    ...items,
    answer: (request, now) => (families.test(request.path) ? content : items).answer(request, now),
  }
}
