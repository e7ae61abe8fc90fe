import { resources } from '../../src/resources/index.ts'
import { detectResponses } from '../../src/sync/backfill/git-detect.ts'
import { gitRepository } from './git-repository.ts'
import { instantOf, item } from './world.ts'

type Files = Readonly<Record<string, unknown>>
export const at = (nth: number) => instantOf('10:00') + 60_000 * nth
export const repository = (...commits: Files[]) =>
  gitRepository(
    commits.map((files, nth) => ({
      at: at(nth),
      files: Object.fromEntries(Object.entries(files).map(([path, body]) => [path, JSON.stringify(body)])),
    })),
  )
export const textsOf = (files: Files) =>
  Object.fromEntries(Object.entries(files).map(([path, body]) => [path, JSON.stringify(body)]))
export const uuid = (nth: number) => `00000000-0000-4000-8000-${String(nth).padStart(12, '0')}`

/** What is detected, as `glob=resource` of what the command has; and the rest. */
export async function detect(...commits: Files[]) {
  const { detected, leftOut, notRead, notSent } = await detectResponses(await repository(...commits), resources)
  const text = ({ glob, resource }: (typeof detected)[number]) => `${glob}=${resource}`
  const [mapped, others] = [true, false].map((is) => detected.filter((one) => one.mapped === is).map(text))
  return { mapped, others, leftOut, notRead, notSent, detected }
}

export const part = (type: string, ...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, item(name, { type, tier: 'rare' })]))
/** The same as `jq` prints it, with what was worked out of it. */
export const expanded = (files: Files) =>
  Object.fromEntries(Object.entries(files).map(([name, one]) => [name, { ...(one as object), lore: 'long' }]))

export const player = (nth: number, more: object = {}) => ({ uuid: uuid(nth), name: `Player ${nth}`, ...more })
export const guild = (nth: number, more: object = {}) => ({
  uuid: uuid(nth),
  name: `Guild ${nth}`,
  prefix: `G${nth}`,
  ...more,
})
export const board = (entry: (nth: number) => object) =>
  Object.fromEntries(Array.from({ length: 30 }, (_, nth) => [String(nth + 1), entry(nth + 1)]))
const reward = { name: 'R', type: 'ITEM', amount: 1, always: false }
export const place = { internalName: 'aa', name: 'A', rewards: [reward] }
export const placed = { lore: null, difficulty: 'EASY', level: 5, length: 'SHORT', requirements: [], location: null }
