import * as z from 'zod'

export const count = z.int().min(0)
export const instant = z.iso.datetime().describe('ISO 8601, UTC')
export const maybeInstant = instant.nullable()
export const text = z.string()
export const maybeText = text.nullable()

/** A list of objects with these fields, and others that may be added. */
export const listOf = <Shape extends z.ZodRawShape>(shape: Shape) => z.array(z.looseObject(shape))
