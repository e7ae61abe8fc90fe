import { sql } from 'drizzle-orm'
import { check, index, primaryKey } from 'drizzle-orm/pg-core'
import { boolean, bytes, instant, integer, text, uuid } from '../../db/columns.ts'
import { namesPeople } from '../../db/naming.ts'
import { syncTable } from '../../db/schemas.ts'

export const privacyRestriction = syncTable(
  'privacy_restriction',
  'What players hide at present, by rule and by the key whose responses say so. No other table has any of it.',
  {
    playerUuid: uuid('The player.').notNull(),
    fieldGroup: text('The privacy rule, as profiles spell it: mainAccess, onlineStatus ...').notNull(),
    toldBy: text(
      'Resource and key whose responses set it: players/<uuid> or guilds/<uuid>. Only its later responses that say otherwise can end it; one that does not name the rule does not.',
    ).notNull(),
    since: instant('observed_at of the first response that set it; of a refusal, when it was received.').notNull(),
    isPending: boolean(
      'Whether further responses must repeat it before what is kept is removed: one that says otherwise counts anew, two in a row end it, and nothing is lost. sync.claim has those that did.',
    )
      .notNull()
      .default(false),
    isHeld: boolean('Whether the guard mass-restriction holds it: the responses that confirm it must be hours apart.')
      .notNull()
      .default(false),
    isRefusal: boolean(
      'Whether it only follows from refusals of the profile (403): then a profile that is shown says otherwise, whatever it says of rules.',
    )
      .notNull()
      .default(false),
    credential: text(
      'Kind of credential of the response that set it: guest or token. NULL: not known, as of a row from before this column existed.',
    ),
    needsCredential: text(
      'Kind of credential that was shown the fields before: only its responses can confirm it. NULL: any.',
    ),
    runId: uuid('The run of the response that set it. NULL: not known.'),
  },
  (self) => [
    primaryKey({ name: 'privacy_restriction_pkey', columns: [self.playerUuid, self.fieldGroup, self.toldBy] }),
    index('privacy_restriction_teller').on(self.toldBy),
  ],
)

export const privacyAction = syncTable(
  'privacy_action',
  'Removals of personal data, by a restriction or by `privacy purge`. Never what was removed.',
  {
    at: instant(
      'observed_at of the response that restricted it; of a purge, its time. What was observed until then does not come back.',
    ).notNull(),
    playerUuid: uuid('The player. NULL: only the hash is kept.'),
    playerHash: bytes(
      'SHA-256 of the uuid in lower case, where the uuid is not kept: it recognizes the player without a name.',
    ),
    fieldGroup: text('The rule whose fields were removed, or everything.').notNull(),
    policy: text('anonymize or delete (WYNNSYNC_PRIVACY), or purge (`privacy purge`).').notNull(),
    rows: integer('Rows removed or blanked, in all tables.').notNull(),
    reason: text('The reason.').notNull(),
    runId: uuid('The run; NULL for a purge.'),
  },
  (self) => [
    index('privacy_action_player').on(self.playerUuid, self.at),
    index('privacy_action_unnamed').on(self.at).where(sql`player_hash is not null`),
    check('privacy_action_whose', sql`(player_uuid is null) <> (player_hash is null)`),
  ],
)

export const privacyNaming = [
  namesPeople(
    privacyRestriction,
    { playerUuid: 'standing', toldBy: 'standing' },
    {
      'a rule of the API': ['fieldGroup'],
      'a word of the program': ['credential', 'needsCredential'],
      'made by the program': ['runId'],
    },
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
