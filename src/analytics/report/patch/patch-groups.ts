import { html } from 'hono/html'
import { differenceOf, numberDifference } from '../content/difference.ts'
import { type Chapter, type Figure, listFigure } from '../drawing/figure.ts'
import type { Cell, Table } from '../drawing/html-table.ts'
import { count } from '../words.ts'
import { type Direction, directionOf } from './direction.ts'
import { type Change, type Kind, readablePath } from './patch-changes.ts'

/** What changed of one kind in one direction. */
interface PatchGroup {
  /** Of its heading, for links. */
  readonly id: string
  readonly title: string
  readonly kind: Kind
  /** The changes of each item, ability or the like. */
  readonly members: readonly (readonly Change[])[]
  readonly direction: Direction
}

/** How what changed is named in a table; a link where it has a page. */
type NameCell = (change: Change) => Cell

const kinds: readonly { readonly kind: Kind; readonly heading: string; readonly one: string }[] = [
  { kind: 'items', heading: 'Items', one: 'item' },
  { kind: 'recipes', heading: 'Recipes', one: 'recipe' },
  { kind: 'abilities', heading: 'Abilities', one: 'ability' },
  { kind: 'aspects', heading: 'Aspects', one: 'aspect' },
  { kind: 'quests', heading: 'Quests', one: 'quest' },
]

const directions: readonly { readonly direction: Direction; readonly said: string }[] = [
  { direction: 'added', said: 'added' },
  { direction: 'removed', said: 'removed' },
  { direction: 'up', said: 'with numbers up' },
  { direction: 'down', said: 'with numbers down' },
  { direction: 'other', said: 'with mixed or other changes' },
]

/** All changes of a patch by kind and direction; groups without any are left out. */
export function groupsOf(changes: readonly Change[]): PatchGroup[] {
  return kinds.flatMap(({ kind, one }) => {
    const byKey = new Map<string, Change[]>()
    for (const change of changes) {
      if (change.kind !== kind) continue
      const own = byKey.get(change.key)
      if (own) own.push(change)
      else byKey.set(change.key, [change])
    }
    const members = [...byKey.values()].map((own) => ({ own, direction: directionOf(own) }))
    return directions.flatMap(({ direction, said }) => {
      const found = members.flatMap((member) => (member.direction === direction ? [member.own] : []))
      if (found.length === 0) return []
      return [{ id: `${kind}-${direction}`, title: titleOf(kind, one, found, said), kind, direction, members: found }]
    })
  })
}

/** The API says of quests only how many there are. */
function titleOf(kind: Kind, one: string, members: readonly unknown[], said: string): string {
  if (kind === 'quests') return 'The number of quests'
  return `${count(members.length, one, kind)} ${said}`
}

export function groupChapters(groups: readonly PatchGroup[], nameCell: NameCell): Chapter[] {
  return kinds.flatMap(({ kind, heading }) => {
    const figures = groups.flatMap((group) => (group.kind === kind ? [groupFigure(group, nameCell)] : []))
    return figures.length > 0 ? [{ id: kind, heading, figures }] : []
  })
}

/** How many there are of each group, with links to them. */
export function groupTable(groups: readonly PatchGroup[]): Table {
  return {
    columns: ['What', 'Direction', 'How many', 'Changed values'],
    rows: groups.map(({ id, kind, direction, members }) => [
      kinds.find((one) => one.kind === kind)?.heading ?? kind,
      html`<a href="#${id}">${directions.find((one) => one.direction === direction)?.said ?? direction}</a>`,
      members.length,
      members.reduce((sum, own) => sum + own.length, 0),
    ]),
  }
}

function groupFigure({ id, title, kind, members, direction }: PatchGroup, nameCell: NameCell): Figure {
  const hasClass = kind === 'abilities' || kind === 'aspects'
  const named = (change: Change) => [nameCell(change), ...(hasClass ? [change.class ?? 'no class'] : [])]
  const what = ['Name', ...(hasClass ? ['Class'] : [])]
  const back = ({ isRevert }: Change) => (isRevert ? 'yes' : '')
  // What came may have changed in the same patch.
  const isWhole = direction === 'added' || direction === 'removed'
  if (isWhole && members.every((own) => own.length === 1)) {
    const rows = members.flatMap(([first]) => (first ? [[...named(first), back(first)]] : []))
    return listFigure(id, title, { columns: [...what, 'Taken back'], rows })
  }
  return listFigure(id, title, {
    columns: [...what, 'Value', 'Before', 'After', 'Difference', 'Taken back'],
    rows: members.flat().map((change) => [...named(change), ...valueCells(change), back(change)]),
  })
}

function valueCells({ path, before, after }: Change): Cell[] {
  if (path === '') return [before === null ? 'appeared' : 'disappeared', '', '', '']
  const [old, young] = differenceOf(before, after)
  return [
    readablePath(path),
    before === null ? '–' : html`<del>${old}</del>`,
    after === null ? '–' : html`<ins>${young}</ins>`,
    numberDifference(before, after),
  ]
}
