/** A guild or player, and from when to when it is known to have gone by a name. */
export interface NameHolder {
  readonly uuid: string
  /** Null where only the uuid is known. */
  readonly name: string | null
  /** Of guilds. */
  readonly prefix: string | null
  readonly since: Date
  /** Null while it does. */
  readonly until: Date | null
}
