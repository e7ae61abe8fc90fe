import type { Sql } from '../db/database.ts'
import { type Figure, missing } from '../drawing/figure.ts'
import { changesOf, lastPatch, patchText, readablePath } from '../drawing/patch/patch-changes.ts'
import { shiftsPicture } from '../drawing/patch/patch-shifts.ts'
import type { Period } from '../drawing/period.ts'
import { moment, shortened } from '../drawing/words.ts'

const most = 500

/** e. What the last patch changed in items and recipes, with before and after. */
export async function patchFigure(sql: Sql, { from, to }: Period): Promise<Figure> {
  const patch = await lastPatch(sql, to)
  if (!patch) return missing('patch', 'No patch was seen yet', 'wynnsync sync items recipes')
  const found = await changesOf(sql, patch, ['items', 'recipes'], most + 1)
  const changes = found.slice(0, most)
  const drawn = shiftsPicture(changes)
  return {
    id: 'patch',
    title: patchText(patch),
    lead: `Patch ${patch.patch}, first seen ${moment(patch.startedAt)} UTC${patch.startedAt < from ? ', before this period' : ''}.${drawn.picture ? ' The picture has the numbers that changed most against what they were.' : ''}`,
    ...drawn,
    table: {
      columns: ['Item or recipe', 'What', 'Before', 'After', 'Taken back'],
      rows: changes.map(({ name, path, before, after, isRevert }) =>
        path === ''
          ? [name, before === null ? 'appeared' : 'disappeared', '', '', isRevert ? 'yes' : '']
          : [name, readablePath(path), shown(before), shown(after), isRevert ? 'yes' : ''],
      ),
      note:
        found.length > most
          ? `The first ${most} changes; all of them: wynnsync query item_change patch=${patch.patch}`
          : undefined,
    },
    isTableShown: changes.length <= 30,
  }
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return '–'
  return shortened(typeof value === 'string' ? value : JSON.stringify(value), 120)
}
