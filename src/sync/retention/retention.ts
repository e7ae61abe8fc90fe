import { UsageError } from '../../base/errors.ts'

/** How long a table of samples is kept, in days. */
interface Keep {
  /** All of it. Whole months go, so up to a month more stays. */
  readonly fine: number
  /** Its coarser tier. Absent: for ever. */
  readonly coarse?: number
}

/** How long each table is kept, by its name without schema; `ledger` too. What is not in it is kept for ever. */
export type Retention = ReadonlyMap<string, Keep>

const day = 86_400_000
const unitDays = { d: 1, w: 7, m: 30, y: 365 } as const

/**
 * Reads a retention such as `all=1y; territory_resource=30d/2y; ledger=90d/2y`: all samples for the first time, their
 * coarser tier for the second. Units: d, w, m (30 days), y (365 days). A name overrides `all`, which does not mean the
 * ledger; `off` keeps for ever. What has no coarser tier has one time, or the second one of `all`.
 * @param tables the names of the tables of samples, without schema
 * @param passing the names of those without a coarser tier
 * @throws UsageError that names every part that cannot be read
 */
export function readRetention(
  text: string | undefined,
  tables: readonly string[],
  passing: readonly string[] = [],
): Retention {
  const names = ['all', 'ledger', ...tables, ...passing]
  const configured = new Map<string, Keep | null>()
  const wrong: string[] = []
  for (const part of (text ?? '').split(';').map((one) => one.trim())) {
    if (part === '') continue
    const [, name = '', fine = '', coarse] = /^(\w+)\s*=\s*(\w+)(?:\s*\/\s*(\w+))?$/.exec(part) ?? []
    const keep = fine === 'off' && coarse === undefined ? null : keepOf(fine, coarse)
    if (!names.includes(name)) wrong.push(`  ${part}: there are ${names.join(', ')}`)
    else if (keep === undefined || (passing.includes(name) && keep?.coarse !== undefined)) {
      const or = passing.includes(name) ? '' : ' or 90d/2y, the second time the longer one'
      wrong.push(`  ${part}: must look like ${name}=90d${or}`)
    } else configured.set(name, keep)
  }
  if (wrong.length > 0) {
    throw new UsageError(
      `WYNNSYNC_RETENTION is wrong; write such as "all=1y; territory_resource=30d/2y":\n${wrong.join('\n')}`,
    )
  }
  const all = configured.get('all') ?? null
  const unless: Readonly<Record<string, Keep | null>> = {
    ...Object.fromEntries(tables.map((name) => [name, all])),
    ...Object.fromEntries(passing.map((name) => [name, all?.coarse === undefined ? null : { fine: all.coarse }])),
    ledger: null,
  }
  return new Map(
    Object.entries(unless).flatMap(([name, otherwise]) => {
      const keep = configured.has(name) ? configured.get(name) : otherwise
      return keep ? [[name, keep] as const] : []
    }),
  )
}

function keepOf(fine: string, coarse: string | undefined): Keep | undefined {
  const days = daysOf(fine)
  if (days === undefined) return undefined
  if (coarse === undefined) return { fine: days }
  const longer = daysOf(coarse)
  return longer !== undefined && longer > days ? { fine: days, coarse: longer } : undefined
}

function daysOf(text: string): number | undefined {
  const [, count = '', unit = ''] = /^([1-9]\d{0,4})([dwmy])$/.exec(text) ?? []
  const length = new Map<string, number>(Object.entries(unitDays)).get(unit)
  return length === undefined ? undefined : Number(count) * length
}

/** The beginning of the day (UTC) so many days before an instant. */
export function daysBefore(now: Date, days: number): Date {
  return new Date(Math.floor(now.getTime() / day - days) * day)
}
