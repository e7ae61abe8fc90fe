import type { DriftOverview } from '../../../sync/drift/drift-overview.ts'
import { formatTable } from '../../output/table.ts'

/** What drifted, for a person: each thing once, with where and when. */
export function driftText(things: readonly DriftOverview[]): string {
  if (things.length === 0) return 'The API sends what this program knows, and nothing else.\n'
  return formatTable(
    ['resource', 'where', 'what', 'first in', 'example'],
    things.map(({ resource, path, member, seen, example }) => ({
      resource,
      where: path || '(the whole)',
      what:
        (member === null ? '' : `${JSON.stringify(member)} `) +
        seen.map(({ what, at }) => `${what} ${minute(at)}`).join(', '),
      'first in': seen[0]?.key ?? '',
      example: example === null || member !== null ? '' : shortened(JSON.stringify(example)),
    })),
  )
}

function minute(at: Date): string {
  return at.toISOString().slice(0, 16).replace('T', ' ')
}

function shortened(text: string): string {
  return text.length > 40 ? `${text.slice(0, 39)}…` : text
}
