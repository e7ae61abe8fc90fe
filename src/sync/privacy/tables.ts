import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { bytes, instant } from '../../db/columns.ts'
import { namesPeople } from '../../db/naming.ts'
import { sync } from '../../db/schemas.ts'

/** What players hide from us at present, one row per rule and answer that says so. */
export const privacyRestriction = sync.table(
  'privacy_restriction',
  {
    playerUuid: uuid('player_uuid').notNull(),
    /** The rule, in the API's camelCase: mainAccess ... */
    fieldGroup: text('field_group').notNull(),
    /** Resource and key whose answers say so: `players/<uuid>`, `guilds/<uuid>`. */
    toldBy: text('told_by').notNull(),
    /** The instant of the answer that said it first. */
    since: instant('since').notNull(),
  },
  (self) => [
    primaryKey({ name: 'privacy_restriction_pkey', columns: [self.playerUuid, self.fieldGroup, self.toldBy] }),
    index('privacy_restriction_teller').on(self.toldBy),
  ],
)

/** That something of a player was removed; never what. What was observed before `at` does not come back. */
export const privacyAction = sync.table(
  'privacy_action',
  {
    at: instant('at').notNull(),
    /** Null where the player is not to be named any more. */
    playerUuid: uuid('player_uuid'),
    /** SHA-256 of the uuid, where the uuid itself is not kept. */
    playerHash: bytes('player_hash'),
    /** The rule, or `everything`. */
    fieldGroup: text('field_group').notNull(),
    /** anonymize, delete or purge. */
    policy: text('policy').notNull(),
    rows: integer('rows').notNull(),
    reason: text('reason').notNull(),
    /** Null when a person did it. */
    runId: uuid('run_id'),
  },
  (self) => [
    index('privacy_action_player').on(self.playerUuid, self.at),
    index('privacy_action_unnamed').on(self.at).where(sql`player_hash is not null`),
    check('privacy_action_whose', sql`(player_uuid is null) <> (player_hash is null)`),
  ],
)

/** Which columns can name a player. */
export const privacyNaming = [
  namesPeople(
    privacyRestriction,
    { playerUuid: 'standing', toldBy: 'standing' },
    { 'a rule of the API': ['fieldGroup'] },
  ),
  namesPeople(
    privacyAction,
    { playerUuid: 'own', reason: 'text' },
    {
      'a rule of the API': ['fieldGroup', 'policy'],
      'does not tell the uuid, only recognizes it': ['playerHash'],
      'made by the program': ['runId'],
    },
  ),
]
