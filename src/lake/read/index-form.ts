import { createHash } from 'node:crypto'
import * as z from 'zod'

/*
 * What the index of a lake can be. Others may have written it: names of tables and columns come into SQL and into paths, and
 * numbers decide how much is read.
 */

const hex = z.string().regex(/^[0-9a-f]{64}$/)
const instant = z.string().refine((text) => text.length <= 40 && Number.isFinite(Date.parse(text)))
const count = z.int().nonnegative()
const column = z.string().regex(/^[a-z_][a-z_0-9]{0,62}$/)
const table = z.string().regex(/^[a-z_]{1,60}\.[a-z_][a-z_0-9]{0,62}$/)
const month = /^\d{4}-(0[1-9]|1[0-2])$/
/** An instant as DuckDB writes it in UTC. */
const written = z.string().regex(/^\d{1,6}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?\+00( \(BC\))?$/)

const file = z
  .object({
    path: z.string(),
    table,
    month: z.string().regex(month).nullable(),
    rows: count,
    bytes: count,
    sha256: hex,
    schema: hex,
    transaction: z.string().regex(/^\d{1,20}$/),
    footer: count.optional(),
    instants: z.record(column, z.tuple([written.nullable(), written.nullable(), count])).optional(),
  })
  .refine((one) => isOf(one), 'its path is not that of its table and month')

const form = z.object({
  format: z.int().min(1),
  program: z.string().regex(/^[\w.+-]{1,60}$/),
  at: instant,
  source: hex,
  people: z.boolean(),
  isSandbox: z.boolean().nullish(),
  coverage: z.array(
    z.object({
      resource: z.string().regex(/^[a-z-]{1,60}$/),
      since: instant.nullable(),
      until: instant.nullable(),
      gaps: z.array(z.tuple([instant, instant])),
    }),
  ),
  tables: z.record(table, z.record(column, z.string().regex(/^[a-z][a-z0-9 _[\](),]{0,80}$/))),
  files: z.array(file),
  replaced: z.array(z.object({ path: z.string(), since: instant })).optional(),
})

/** Whether a file of an index is one. */
export function isFile(value: unknown): boolean {
  return file.safeParse(value).success
}

/** What an export cannot have written in an index, or undefined. Whether its paths are inside is not part of that. */
export function faultOf(index: unknown): string | undefined {
  const [issue] = form.safeParse(index).error?.issues ?? []
  return issue && `${issue.path.join('.').slice(0, 100)}: ${issue.message}`
}

/** An index or list with a hash of itself: files have theirs in it, and numbers beside them none. */
export function sealed<Value extends object>(value: Value): Value & { readonly sha256: string } {
  const { sha256: _, ...rest } = value as Value & { readonly sha256?: unknown }
  return { ...value, sha256: hashOf(rest) }
}

/** What tells that an index or list is not as it was written, or undefined. One of an earlier version has no hash of itself. */
export function sealFault(value: unknown): string | undefined {
  const { sha256, ...rest } = value as { readonly sha256?: unknown }
  return sha256 === undefined || sha256 === hashOf(rest) ? undefined : 'its SHA-256 is not that of what it says'
}

/** Of its values, in whatever order an object has them. */
function hashOf(value: object): string {
  const text = JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  )
  return createHash('sha256').update(text).digest('hex')
}

function isOf({
  path,
  table,
  month,
}: {
  readonly path: string
  readonly table: string
  readonly month: string | null
}) {
  const folder = `${table}/${month === null ? '' : `month=${month}/`}`
  return path.startsWith(folder) && !path.slice(folder.length).includes('/')
}
