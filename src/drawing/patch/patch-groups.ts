import { html } from 'hono/html'
import { differenceOf, numberDifference } from '../difference.ts'
import { type Chapter, type Figure, listFigure } from '../figure.ts'
import type { Cell, Table } from '../html-table.ts'
import { count, number } from '../words.ts'
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

const directions: readonly Direction[] = ['added', 'removed', 'up', 'down', 'other']

/** Of a recipe and a number of quests, more is neither better nor worse. */
function saidOf(kind: Kind, direction: Direction): string {
  const isBalance = kind !== 'recipes' && kind !== 'quests'
  if (direction === 'up') return isBalance ? 'buffed' : 'with numbers up'
  if (direction === 'down') return isBalance ? 'nerfed' : 'with numbers down'
  return direction === 'other' ? 'with mixed or other changes' : direction
}

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
    return directions.flatMap((direction) => {
      const found = members.flatMap((member) => (member.direction === direction ? [member.own] : []))
      if (found.length === 0) return []
      const title = titleOf(kind, one, found, saidOf(kind, direction))
      return [{ id: `${kind}-${direction}`, title, kind, direction, members: byClass(found) }]
    })
  })
}

function byClass(members: readonly (readonly Change[])[]): (readonly Change[])[] {
  const classOf = ([first]: readonly Change[]) => first?.class ?? ''
  return members.toSorted((one, other) => (classOf(one) < classOf(other) ? -1 : classOf(one) > classOf(other) ? 1 : 0))
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

/** How many there are of each class or type, by direction, with links to them. */
export function groupTable(groups: readonly PatchGroup[]): Table {
  const shown = directions.filter((direction) => groups.some((group) => group.direction === direction))
  const heads = {
    added: 'Added',
    removed: 'Removed',
    up: 'Buffed, or up',
    down: 'Nerfed, or down',
    other: 'Mixed or other',
  }
  const rows = kinds.flatMap(({ kind, heading }) => {
    const own = groups.filter((group) => group.kind === kind)
    const classes = [...new Set(own.flatMap(({ members }) => members.map(([first]) => first?.class ?? null)))].sort()
    return classes.map((of): Cell[] => [
      heading,
      of ?? '',
      ...shown.map((direction): Cell => {
        const group = own.find((one) => one.direction === direction)
        const amount = group?.members.filter(([first]) => (first?.class ?? null) === of).length ?? 0
        return group && amount > 0 ? html`<a href="#${group.id}">${number(amount)}</a>` : ''
      }),
    ])
  })
  return { columns: ['What', 'Class or type', ...shown.map((direction) => heads[direction])], rows }
}

function groupFigure({ id, title, kind, members, direction }: PatchGroup, nameCell: NameCell): Figure {
  const hasClass = kind === 'abilities' || kind === 'aspects' || kind === 'items'
  const named = (change: Change) => [nameCell(change), ...(hasClass ? [change.class ?? 'none'] : [])]
  const what = ['Name', ...(hasClass ? [kind === 'items' ? 'Type' : 'Class'] : [])]
  const back = ({ isRevert }: Change) => (isRevert ? 'yes' : '')
  // What came may have changed in the same patch.
  const isWhole = direction === 'added' || direction === 'removed'
  if (isWhole && members.every((own) => own.length === 1)) {
    const rows = members.flatMap(([first]) => (first ? [[...named(first), back(first)]] : []))
    return listFigure(id, title, { columns: [...what, 'Taken back'], rows })
  }
  return listFigure(id, title, {
    columns: [...what, 'Value', 'Before', 'After', 'Difference', 'Taken back'],
    rows: members.flatMap((own) =>
      rolled(own).map((change) => [...named(change), ...valueCells(change), back(change)]),
    ),
  })
}

/** The same with one change for each range, whose ends are three values. */
function rolled(changes: readonly Change[]): Change[] {
  const ends = /^(\/(?:identifications|base)\/[^/]+)\/(raw|min|max)$/
  const ranges = new Map<string, Change[]>()
  for (const change of changes) {
    const [, range = change.path] = ends.exec(change.path) ?? []
    const key = `${range} ${change.at.getTime()}`
    ranges.set(key, [...(ranges.get(key) ?? []), change])
  }
  return [...ranges.values()].flatMap((own) => {
    const [first] = own
    const path = ends.exec(first?.path ?? '')?.[1]
    if (!first || path === undefined) return own
    const text = (of: 'before' | 'after') => {
      const [raw, min, max] = ['raw', 'min', 'max'].map((end) => own.find((one) => one.path === `${path}/${end}`)?.[of])
      const range = [min, max].some((end) => typeof end === 'number') ? `${min ?? '…'} to ${max ?? '…'}` : ''
      if (typeof raw !== 'number') return range === '' ? null : range
      return range === '' ? raw : `${raw} (${range})`
    }
    return [{ ...first, path, before: text('before'), after: text('after') }]
  })
}

/** What says nothing of the game, folded. */
export function technicalFigure(changes: readonly Change[], nameCell: NameCell): Figure {
  return {
    id: 'technical-values',
    title: count(changes.length, 'technical change'),
    lead: 'Icons, coordinates, places in a tree, spelling and the form of the data.',
    table: {
      columns: ['Of', 'Name', 'Value', 'Before', 'After', 'Difference'],
      rows: changes.map((change) => [change.kind, nameCell(change), ...valueCells(change)]),
    },
  }
}

function valueCells({ path, before, after }: Change): Cell[] {
  if (path === '') return [before === null ? 'appeared' : 'disappeared', '', '', '']
  const [old, young] = differenceOf(before, after)
  return [
    readablePath(path),
    before === null ? '–' : html`<del>${old}</del>`,
    after === null ? '–' : html`<ins>${young}</ins>`,
    numberDifference(leading(before), leading(after)),
  ]
}

/** The number before the range of a value. */
function leading(value: unknown): unknown {
  const [, number] = typeof value === 'string' ? (/^(-?\d+(?:\.\d+)?) \(/.exec(value) ?? []) : []
  return number === undefined ? value : Number(number)
}
