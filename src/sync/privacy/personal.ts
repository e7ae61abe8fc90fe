import type { NamingTable } from '../../db/naming.ts'
import type { Json } from '../normalize/hash.ts'

/** One person as an answer tells of them. */
export interface Person {
  /** In small letters. */
  readonly playerUuid: string
  /** Rules that the answer says hide something from us, in camelCase (API reference 7.3). */
  readonly restricted: readonly string[]
  /** Rules whose fields the answer gives values of. */
  readonly shows: readonly string[]
  /** Names of all fields that the person's own records have in the answer. */
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
  /** Rows that are removed, by rule: which. */
  readonly rows?: Readonly<Record<string, string>>
  /** Columns that become NULL, by rule; `where` says in which rows. */
  readonly blank?: Readonly<Record<string, { readonly columns: readonly string[]; readonly where?: string }>>
  /** A lateral source `own` and the condition that ties it to `kept`, where the index does not begin with the player. */
  readonly narrowed?: { readonly from: string; readonly where: string }
}

/** What a resource's answers tell of people, and everything that any resource keeps of them. */
export interface Personal {
  /** Everybody an answer tells of, each once. Never throws, whatever the records are. */
  peopleIn(answer: { readonly records: readonly unknown[]; readonly facts?: Json }): readonly Person[]
  /** What is hidden of the player whose key the API refuses to tell about (403). */
  readonly refusalHides: readonly string[]
  /** Rules whose fields grow by themselves while they are hidden: the history of guilds. */
  readonly growing: readonly string[]
  /** The keys of worklists that tell of the player `who.player_uuid`, as a select of resource and key. */
  readonly answersAbout: string
  /** The guilds that the player `who.player_uuid` was in and is not any more, as a select. */
  readonly formerGuilds: string
  /** Resources whose responses are about people, so that a word in them may be a player's name. */
  readonly resources: readonly string[]
  /** Tables of these resources with columns that can name a player although their rows are not about one. */
  readonly naming: readonly NamingTable[]
  /** In the order in which rows are removed. */
  readonly tables: readonly KeptTable[]
}
