import { fieldOf, recordError } from './record.ts'

/*
 * Coordinates that are part of a natural key. Within these bounds JavaScript and Postgres write a number as the same text,
 * without an exponent: a version is found by the text of its key.
 */

/** The border of the game's world, in blocks from its centre. */
const WORLD_BORDER = 30_000_000
/** What is nearer to 0 is noise of a computation, in blocks. */
const LEAST_DIFFERENCE = 0.0001

/** In blocks; numbers or texts on the wire. */
interface Place {
  readonly x: number
  readonly y: number
  readonly z: number
}

/**
 * Where a record lies.
 * @throws RecordError when a coordinate is missing, no number, or beyond the border of the world
 */
export function placeOf(record: unknown): Place {
  const [x, y, z] = (['x', 'y', 'z'] as const).map((axis) => {
    const blocks = blocksOf(fieldOf(record, axis))
    if (Math.abs(blocks) <= WORLD_BORDER) return Math.abs(blocks) < LEAST_DIFFERENCE ? 0 : blocks
    const found = JSON.stringify(fieldOf(record, axis))?.slice(0, 40)
    throw recordError(`/${axis}`, `/${axis} should be a coordinate of the world, found ${found}`)
  }) as [number, number, number]
  return { x, y, z }
}

/** `x/y/z` of a record; undefined where they cannot be read. */
export function placeText(record: unknown): string | undefined {
  try {
    const { x, y, z } = placeOf(record)
    return `${x}/${y}/${z}`
  } catch {
    return undefined
  }
}

function blocksOf(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN
}
