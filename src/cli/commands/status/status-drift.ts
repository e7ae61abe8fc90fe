import type { DriftOverview } from '../../../sync/drift/drift-overview.ts'
import { formatTable } from '../../output/table.ts'
import { minuteText, shortened } from '../../output/units.ts'

/** Drift for a person: each thing once, with where and when. */
export function driftText(things: readonly DriftOverview[], width?: number): string {
  if (things.length === 0) return 'No drift: the API sends nothing unknown.\n'
  return formatTable(
    ['resource', 'where', 'what', 'first in', 'example'],
    things.map(({ resource, path, member, seen, example }) => ({
      resource,
      where: path || '(the whole)',
      what:
        (member === null ? '' : `${JSON.stringify(member)} `) +
        seen.map(({ what, at }) => `${what} ${minuteText(at)}`).join(', '),
      'first in': seen[0]?.key ?? '',
      example: example === null || member !== null ? '' : shortened(JSON.stringify(example), 40),
    })),
    { width },
  )
}
