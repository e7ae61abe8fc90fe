import { primaryKey } from 'drizzle-orm/pg-core'
import { instant, integer, text, uuid } from '../../db/columns.ts'
import { namesPeople } from '../../db/naming.ts'
import { syncTable } from '../../db/schemas.ts'

export const claim = syncTable(
  'claim',
  'What responses say that must not be believed from one response, such as that a key is gone: pending until enough responses of different cache windows agree. A response that contradicts it removes it.',
  {
    resource: text(
      'The resource, or the resource and one of its histories or `restrictions`, separated by a slash.',
    ).notNull(),
    kind: text(
      'missing, older, resumed, shown, returned, shrunken, flawed, skipped, moved, empty place, unlisted, volatile, joined, rank, appeared, unsent, unread, gone, forbidden, restricted or lifted: what is claimed. How many responses it takes is documented for each.',
    ).notNull(),
    subject: text(
      'What the claim is about: natural key of the entity; several columns are joined by a slash; of restrictions the key of the response and the player. Empty: the whole response.',
    ).notNull(),
    value: text(
      'What responses must agree in, such as a content hash, the privacy rule, or of forbidden the kind of credential. Empty: the subject says all.',
    ).notNull(),
    firstAt: instant('observed_at of the first response that said so.').notNull(),
    lastAt: instant('observed_at of the latest response that counted.').notNull(),
    firstReceivedAt: instant('When the first one was received, by the clock of this machine.').notNull(),
    lastReceivedAt: instant('When the latest one that counted was received, by the clock of this machine.').notNull(),
    times: integer('Responses of different cache windows that said so.').notNull(),
    runId: uuid('The run of the first one: run_id in sync.run.').notNull(),
  },
  (self) => [primaryKey({ name: 'claim_pkey', columns: [self.resource, self.kind, self.subject, self.value] })],
)

export const evidenceNaming = [
  namesPeople(
    claim,
    { subject: 'row' },
    { 'a word of the program': ['resource', 'kind'], 'made by the program': ['value', 'runId'] },
  ),
]
