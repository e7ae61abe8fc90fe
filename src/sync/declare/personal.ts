export { isFields } from '../../api/schemas/form/unknown.ts'

import type { NamingTable } from '../../db/naming.ts'
import type { Json } from '../normalize/hash.ts'

/** One person as a response tells of them. */
export interface Person {
  /** In small letters. */
  readonly playerUuid: string
  /** Rules that the response says hide something from us, in camelCase (API reference 7.3). */
  readonly restricted: readonly string[]
  /** Rules that the response says hide nothing from us. */
  readonly open: readonly string[]
  /** Each record of the person says which rules hide something: one that is not among them may be none any more. */
  readonly namesRules?: boolean
  /** Those of `restricted` that hide in doubt alone: nothing is removed because of them. */
  readonly unsure?: readonly string[]
  /** Rules whose fields the response gives values of. */
  readonly shows: readonly string[]
  /** Rules of which the response has a field, whatever its value. */
  readonly sends: readonly string[]
  /** Names of all fields that the person's own records have in the response. */
  readonly fields: readonly string[]
}

/** What goes from a table when a player restricts something. SQL, over the row `kept`; from code, never from outside. */
export interface KeptTable {
  /** Schema-qualified name. It has a column `player_uuid`. */
  readonly table: string
  /** Column that says since when a row is true, or when it was observed. */
  readonly since: string
  /** Of a table of versions: the columns of its key. */
  readonly versionsOf?: readonly string[]
  /** Column with the player's name, where there is one. */
  readonly username?: string
  /** The resource that fills the table's `extra` column: what no rule is known for. */
  readonly extraOf?: string
  /** Fields of the `extra` column that are removed, by rule. */
  readonly extraFields?: Readonly<Record<string, readonly string[]>>
  /** The history whose missing keys are the table's rows, such as `guilds/members`. */
  readonly absences?: string
  /** Rows that are removed, by rule: which. */
  readonly rows?: Readonly<Record<string, string>>
  /** Columns that become NULL, by rule; `where` says in which rows. */
  readonly blank?: Readonly<Record<string, { readonly columns: readonly string[]; readonly where?: string }>>
  /** Of a table whose rows say something of others too: the columns that become NULL where everything about the player goes. */
  readonly emptied?: readonly string[]
  /** A lateral source `own` and the condition that ties it to `kept`, where the index does not begin with the player. */
  readonly narrowed?: { readonly from: string; readonly where: string }
}

/** In place of a rule: everything about a player. */
export const everything = 'everything'

export type Fields = Record<string, unknown>

/** How the responses of one resource name players, and how they are removed from archived ones. */
export interface PersonalResponses {
  /** True where each response is about the one player who is its key. */
  readonly isOfOne: boolean
  /** Privacy rules that hide something in them (API reference 7.3). */
  readonly rules: readonly string[]
  /**
   * Joins from `who` (player_uuid, until, field_group) to the archived responses `raw` that may name the player. Rejected
   * and unreadable responses are in no other table, and have to be searched.
   */
  readonly archived: readonly string[]
  /**
   * Removes from a body, in place, what a rule hides of a player; true when there was any. What marks it as hidden stays.
   * @param uuid in lower case
   */
  redact(body: Fields, uuid: string, rule: string): boolean
  /** Removes the player from a body, in place; true when there was anything. Counts stay: worlds, totals, a guild's numbers. */
  remove(body: Fields, uuid: string): boolean
  /** Removes from a body, in place, that the player was in these guilds, or in one of which only the name is there. */
  leave?(body: Fields, guildUuids: readonly string[]): boolean
  /** The player's own records in a body, with the names of their known fields. */
  recordsOf(body: Fields, uuid: string): readonly { readonly record: Fields; readonly known: ReadonlySet<string> }[]
  /** Where a body that is not all about one player can name one. */
  readonly names?: NamedFields
}

/** Which words of a body can be names of players. */
export interface NamedFields {
  /** Fields that hold no name, though their values may be spelled like one; any other field can. */
  readonly nameless: ReadonlySet<string>
  /** The field that is a map keyed by player, where there is one. */
  readonly playerMap?: string
  /** The field with maps of records keyed by player, and those of their fields that hold no name. */
  readonly members?: { readonly field: string; readonly nameless: ReadonlySet<string> }
}

/** What a resource's responses say of people, and everything that any resource keeps of them. */
export interface Personal {
  /** Everybody a response is about, each once. Never throws, whatever the records are. */
  peopleIn(response: { readonly records: readonly unknown[]; readonly facts?: Json }): readonly Person[]
  /** What is hidden of the player whose key the API refuses (403). */
  readonly refusalHides: readonly string[]
  /** Rules whose fields grow by themselves while they are hidden: the history of guilds. */
  readonly growing: readonly string[]
  /** The keys of worklists whose responses are about the player `who.player_uuid`, as a select of resource and key. */
  readonly answersAbout: string
  /** The guilds that the player `who.player_uuid` was in and is not any more, as a select of resource and key; both empty for one of which only the name is known. */
  readonly formerGuilds: string
  /** Of each resource whose responses name players. */
  readonly responses: Readonly<Record<string, PersonalResponses>>
  /** Tables of these resources with columns that can name a player although their rows are not about one. */
  readonly naming: readonly NamingTable[]
  /** In the order in which rows are removed. */
  readonly tables: readonly KeptTable[]
}
