import * as z from 'zod'
import { UsageError } from '../../app/errors.ts'
import type { LakeIndex } from '../index-file.ts'

const hex = z.string().regex(/^[0-9a-f]{64}$/)
const instant = z.string().refine((text) => text.length <= 40 && Number.isFinite(Date.parse(text)))
const count = z.int().nonnegative()

const form = z.object({
  program: z.string().regex(/^[\w.+-]{1,60}$/),
  at: instant,
  source: hex,
  people: z.boolean(),
  coverage: z.array(
    z.object({
      resource: z.string().regex(/^[a-z-]{1,60}$/),
      since: instant.nullable(),
      until: instant.nullable(),
      gaps: z.array(z.tuple([instant, instant])),
    }),
  ),
  files: z.array(
    z.object({
      path: z.string(),
      table: z.string().regex(/^(game|sync)\.[a-z_0-9]{1,60}$/),
      month: z.string().nullable(),
      rows: count,
      bytes: count,
      sha256: hex,
      schema: hex,
    }),
  ),
})

/**
 * Refuses an index that an export cannot have made. Its paths were checked when it was read.
 * @param now ms since the epoch
 * @throws UsageError with what is wrong
 */
export function checkIndex(index: LakeIndex, place: string, now: number): void {
  const { success, error } = form.safeParse(index)
  const [issue] = error?.issues ?? []
  if (!success)
    throw new UsageError(`the index of ${place} is not that of a lake: ${issue?.path.join('.')}: ${issue?.message}`)
  if (Date.parse(index.at) > now + CLOCK_SKEW)
    throw new UsageError(`the lake of ${place} is from the future: ${index.at}`)
  const misplaced = index.files.find(({ path, table }) => !path.startsWith(`${table}/`))
  if (misplaced) throw new UsageError(`the index of ${place} has ${misplaced.path} for ${misplaced.table}`)
}

/** How far the clock of another machine may be ahead, ms. */
const CLOCK_SKEW = 300_000
