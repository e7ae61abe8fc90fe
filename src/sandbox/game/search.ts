import type { Item } from '../generator/records.ts'
import type { Realm } from './state.ts'

/** The kinds of results, by what `only` may name (API reference 3.6). */
const kinds = {
  player: ['players'],
  guild: ['guilds', 'guildsPrefix'],
  item: ['items'],
  territory: ['territories'],
  discovery: ['discoveries'],
} as const
type Kind = keyof typeof kinds

interface Searched {
  readonly realm: Realm
  readonly items: readonly Item[]
  readonly discoveries: readonly { readonly name: string; readonly start: unknown; readonly end: unknown }[]
}

/** Reads `only`: a kind, in singular or plural, or several with commas. Undefined when it names another. */
export function kindsOf(only: string | null): readonly Kind[] | undefined {
  const all = Object.keys(kinds) as Kind[]
  if (only === null || only === '') return all
  const asked = only.split(',').map((word) => {
    const folded = word.trim().toLowerCase()
    return all.find((kind) => kind === folded || (kinds[kind] as readonly string[]).includes(folded))
  })
  return asked.every((kind) => kind !== undefined) ? asked : undefined
}

/**
 * The body of `/search/{text}`: what contains the text, whatever its case, at most 20 players and 50 guilds. A kind is
 * absent when nothing of it matches (API reference 8).
 */
export function searchBody({ realm, items, discoveries }: Searched, query: string, wanted: readonly Kind[]) {
  const folded = query.toLowerCase()
  const matches = (text: string | null) => text?.toLowerCase().includes(folded) ?? false
  const guilds = [...realm.guilds.values()]
  const guildMap = (found: typeof guilds) =>
    Object.fromEntries(found.slice(0, 50).map(({ uuid, name, prefix }) => [uuid, { name, prefix }]))
  const placeMap = (found: Searched['discoveries']) =>
    Object.fromEntries(found.map(({ name, start, end }) => [name, { start, end }]))
  const find: Readonly<Record<Kind, () => Readonly<Record<string, object>>>> = {
    player: () => ({
      players: Object.fromEntries(
        realm.people
          .filter(({ username }) => matches(username))
          .slice(0, 20)
          .map(({ uuid, username }) => [uuid, username]),
      ),
    }),
    guild: () => ({
      guilds: guildMap(guilds.filter(({ name }) => matches(name))),
      guildsPrefix: guildMap(guilds.filter(({ prefix }) => prefix?.toLowerCase().startsWith(folded))),
    }),
    item: () => ({ items: items.filter(({ displayName }) => matches(displayName)) }),
    territory: () => ({ territories: placeMap([...realm.territories].filter(({ name }) => matches(name))) }),
    discovery: () => ({ discoveries: placeMap(discoveries.filter(({ name }) => matches(name))) }),
  }
  const found = wanted.flatMap((kind) => Object.entries(find[kind]()))
  return { query, ...Object.fromEntries(found.filter(([, matching]) => Object.keys(matching).length > 0)) }
}
