import { isStorable } from '../../api/schemas/form/limits.ts'
import { pointerStep } from './changed-fields.ts'

interface Place {
  readonly path: string
  /** The last step of the path. */
  readonly name: string
  readonly value: unknown
}

/**
 * JSON pointer to where a record has a value that came out of it: under this name if it stands there, else wherever it stands
 * first; of a text that was put together, to the part that cannot be stored. Empty where it is not to be found.
 */
export function placeOf(record: unknown, value: unknown, name: string): string {
  let first: string | undefined
  let unstorable: string | undefined
  for (const place of placesIn(record, '')) {
    const isHere = Object.is(place.value, value)
    if (isHere && place.name === name) return place.path
    if (isHere) first ??= place.path
    if (!isStorable(place.name) || (typeof place.value === 'string' && !isStorable(place.value)))
      unstorable ??= place.path
  }
  return first ?? unstorable ?? ''
}

/** JSON pointer to the first name or text of a record that cannot be stored. */
export function unstorablePlace(record: unknown): string {
  return placeOf(record, undefined, '')
}

function* placesIn(value: unknown, path: string): Generator<Place> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    const place = { path: path + pointerStep(name), name, value: inner as unknown }
    yield place
    yield* placesIn(place.value, place.path)
  }
}
