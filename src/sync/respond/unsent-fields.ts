import type { AnyPgTable } from 'drizzle-orm/pg-core'
import { reach } from '../../base/errors.ts'
import type { Sql } from '../../db/database.ts'
import type { History, ResourceBase } from '../declare/resource.ts'
import { corroborate, forgetClaims, type Witness } from '../evidence/claims.ts'
import { REMOVED_FIELD_TIME } from '../evidence/policies.ts'
import {
  type DependentColumns,
  type Dependents,
  dependentsOf,
  isEmpty,
  tryField,
  type UnsentFields,
} from '../normalize/dependents.ts'
import type { FieldCount } from '../normalize/prepare.ts'
import { accepted, bulkTable } from '../sql/history-sql.ts'
import type { IncomingResponse, KnownFields } from './validate-response.ts'

/*
 * A field that most records had and that a response lacks is unknown: neither 0 nor as before. What follows from it is left as it is;
 * once enough responses agree, a row of sync.unsent says from when on the field is not sent. After weeks it counts as removed: what it
 * said stays unknown, and responses without it are not partial any more.
 */

/** SQL: the columns of `KnownFields` of the resource `$1` with its histories `$2`, at `$3` by the clock of this machine. */
export const KNOWN_FIELDS = `(select coalesce(jsonb_agg(jsonb_build_object('field', field, 'had', had, 'of', out_of, 'at', observed_at)), '[]')
               from sync.presence where resource = $1) as presence,
            (select coalesce(jsonb_agg(jsonb_build_object('field', field, 'had', had, 'of', out_of, 'from', from_at,
                                                           'receivedFrom', received_from, 'columns', columns)), '[]')
               from sync.unsent where resource = $1 and until_at is null) as open,
            exists (select from sync.unsent where resource = $1 and received_until > $3::timestamptz - interval '1 month') as "wasUnsent",
            exists (select from sync.unread where resource = any($2::text[]) and until_at is null) as "hasUnread",
            (select coalesce(jsonb_agg(subject), '[]') from sync.claim where resource = $1 and kind = 'unsent' and value = '') as pending`

/** Of so few records, all must lack a field. */
const FEW_RECORDS = 5
/** From which share on nearly all records have a field, and most. */
const NEARLY_ALL_SHARE = 0.9
const MOST_SHARE = 0.5
/** Of one key of a worklist, which says little of the others. */
const NEARLY_ALL_SHARE_OF_KEYS = 0.95
/** So many of its records tell that a field that only most have is lacking. */
const RECORDS_OF_KEY = 20

/** Whether records lack a field that most had. */
function isLacking(now: FieldCount, before: FieldCount, isOneKey: boolean): boolean {
  const share = before.had / before.of
  if (now.of < FEW_RECORDS) return now.had === 0 && share >= (isOneKey ? NEARLY_ALL_SHARE_OF_KEYS : NEARLY_ALL_SHARE)
  if (share >= NEARLY_ALL_SHARE) return now.had <= 0.5 * share * now.of
  return share >= MOST_SHARE && now.had <= 0.1 * share * now.of && (!isOneKey || now.of >= RECORDS_OF_KEY)
}

/** So unlikely it must be that keys which were never seen before lack a field by chance. */
const CHANCE_OF_KEYS = 1 / 400

/**
 * How many responses must lack a field one after the other, where they show keys for the first time: those have lost nothing. After 13 of 13
 * the next one lacks it with a chance of up to 1 in 15 (rule of succession).
 */
const responsesOfNewKeys = ({ had, of }: FieldCount): number =>
  Math.ceil(Math.log(CHANCE_OF_KEYS) / Math.log((of - had + 1) / (of + 2)))

/** @param base what was counted before, where the response shows its key for the first time */
const claimOf = ({ field, of }: FieldCount, base: FieldCount | undefined | false) => ({
  subject: field,
  responses: base && of < FEW_RECORDS ? responsesOfNewKeys(base) : 0,
})

/** A record that lacked a field which the next one has is counted, too: else none would ever seem to lack what the API sends of some only. */
const withThoseThatLacked = (counts: readonly FieldCount[], back: readonly string[]) =>
  counts.map((now) => (back.includes(now.field) ? { ...now, of: now.of + 1 } : now))

/** The records of a worklist that are counted for each field; after them a share is known. */
const COUNTED_RECORDS_OF_KEYS = 50
/** By which difference the share of a field is another one. */
const SHARE_DIFFERENCE = 0.02

/**
 * Judges which fields a response lacks: claims it, confirms it, ends what is sent again, and counts what it has.
 * @param isNewer it is newer than the last accepted response
 * @param isSame it has the content of that one: the same response twice counts once
 */
export async function judgeUnsent(
  sql: Sql,
  resource: ResourceBase,
  { preparation, scope, guards, last }: IncomingResponse,
  witness: Witness,
  known: KnownFields,
  { isNewer, isSame }: { readonly isNewer: boolean; readonly isSame: boolean },
): Promise<UnsentFields | undefined> {
  const { presence: counts = [], examples = [] } = preparation
  if (counts.length === 0 || known.presence.some(({ at }) => Date.parse(at) > witness.at.getTime())) return undefined
  const isOneKey = scope !== undefined
  const isNewKey = isOneKey && last === undefined
  const before = new Map(known.presence.map((one) => [one.field, one]))
  const open = new Map(known.open.map((one) => [one.field, one]))
  const isAccepted = (field: string) => open.has(field) && before.get(field)?.had === 0
  const baseOf = (field: string) => (isAccepted(field) ? open.get(field) : (before.get(field) ?? open.get(field)))
  const lacking = counts.filter((now) => {
    const base = baseOf(now.field)
    // A list that few records lack may be empty.
    const isEmpty = now.of < FEW_RECORDS && resource.sent?.isList(now.field) === true
    return base !== undefined && base.of > 0 && !isEmpty && isLacking(now, base, isOneKey)
  })
  const isMissing = new Set(lacking.map(({ field }) => field))
  const isBack = counts.filter(({ field }) => !isMissing.has(field))
  const ended = isNewer ? isBack.flatMap(({ field, had }) => (open.has(field) && had > 0 ? [field] : [])) : []
  // That it was missing is noted at once, and so is its return.
  const back = isBack.flatMap(({ field, had }) => (known.pending.includes(field) && had > 0 ? [field] : []))
  const columns = (field: string) => {
    const found = tryField(resource, examples, field, witness.at.getTime())
    return found && columnsOf(resource, found)
  }
  let begun: readonly string[] = []
  if (isNewer) {
    await endSpans(sql, witness, ended)
    const over = isBack.flatMap(({ field }) => (known.pending.includes(field) ? [{ subject: field, value: '' }] : []))
    await forgetClaims(sql, resource.name, 'unsent', over)
    const claims = lacking.flatMap((now) => (open.has(now.field) ? [] : claimOf(now, isNewKey && baseOf(now.field))))
    const confirmed = await confirm(sql, witness, claims, guards.accept === true)
    begun = confirmed.map(({ subject }) => subject)
    await beginSpans(sql, witness, confirmed, { columns, before, key: scope })
    await keepColumns(sql, witness, known.open, columns)
    if (guards.accept) await countPresence(sql, witness, lacking.map(notExpected), new Map(), isOneKey)
    const seen = isOneKey ? withThoseThatLacked(isBack, back) : isBack
    if (!isSame) await countPresence(sql, witness, seen, before, isOneKey)
  }
  const fields = lacking.map(({ field }) => field)
  if (fields.length === 0 && ended.length + back.length === 0) return undefined
  const confirmed = fields.filter((field) => open.has(field) || begun.includes(field))
  const isSure = (now: FieldCount) =>
    !isOneKey || now.of >= FEW_RECORDS || open.has(now.field) || begun.includes(now.field)
  const sure = lacking.filter(isSure)
  const isExpected = (field: string) => !guards.accept && !isAccepted(field) && !isRemoved(open.get(field), witness)
  const missed = sure.filter(({ field }) => isExpected(field))
  const named = missed.slice(0, 3)
  return {
    fields,
    dependents: dependentsOf(resource, examples, fields, witness.at.getTime()),
    unknown: dependentsOf(resource, examples, confirmed, witness.at.getTime()),
    begun: [
      ...begun,
      ...(isOneKey ? [] : sure).flatMap(({ field, of }) =>
        of < FEW_RECORDS || open.has(field) || begun.includes(field) ? [] : [field],
      ),
    ],
    ended: [...ended, ...(isOneKey ? [] : back)],
    reason:
      named.length === 0
        ? null
        : named
            .map(({ field, had, of }) => {
              const base = baseOf(field)
              return `${of - had} of ${of} records lack ${field}, which ${base?.had} of ${base?.of} had`
            })
            .join('; ') + (missed.length > named.length ? `; and ${missed.length - named.length} fields more` : ''),
  }
}

/** A person accepts that a field is not sent: its share is none from now on, and responses without it are not partial. */
const notExpected = (count: FieldCount): FieldCount => ({ ...count, had: 0 })

/** The fields that are not sent from now on: enough responses lack them, or a person accepts it. */
async function confirm(
  sql: Sql,
  witness: Witness,
  claims: readonly ReturnType<typeof claimOf>[],
  accept: boolean,
): Promise<readonly { readonly subject: string; readonly firstAt: Date }[]> {
  const { confirmed } = await corroborate(sql, witness, 'unsent', claims)
  if (!accept) return confirmed
  const since = new Map(confirmed.map(({ subject, firstAt }) => [subject, firstAt]))
  await forgetClaims(
    sql,
    witness.resource,
    'unsent',
    claims.map(({ subject }) => ({ subject, value: '' })),
  )
  return claims.map(({ subject }) => ({ subject, firstAt: since.get(subject) ?? witness.at }))
}

/** Whether a field has been missing for so long, by both clocks, that the API has removed it. */
function isRemoved(span: KnownFields['open'][number] | undefined, { at, receivedAt }: Witness): boolean {
  if (span === undefined) return false
  const latest = Math.min(at.getTime() - Date.parse(span.from), receivedAt.getTime() - Date.parse(span.receivedFrom))
  const isRemoved = latest >= REMOVED_FIELD_TIME
  if (isRemoved) reach('way out: a field that was not sent for two weeks is removed')
  return isRemoved
}

async function endSpans(sql: Sql, { resource, at, receivedAt }: Witness, fields: readonly string[]): Promise<void> {
  if (fields.length === 0) return
  await sql.query(
    `update sync.unsent set until_at = greatest($3, from_at), received_until = $4
      where resource = $1 and until_at is null and field = any($2::text[])`,
    [resource, fields, at, receivedAt],
  )
}

async function beginSpans(
  sql: Sql,
  { resource, runId, receivedAt }: Witness,
  confirmed: readonly { readonly subject: string; readonly firstAt: Date }[],
  {
    columns,
    before,
    key,
  }: {
    readonly columns: (field: string) => readonly string[] | undefined
    readonly before: ReadonlyMap<string, FieldCount>
    readonly key: string | undefined
  },
): Promise<void> {
  if (confirmed.length === 0) return
  const responses =
    key === undefined
      ? `select max(observed_at) from sync.run where resource = $1 and ${accepted} and observed_at < begun.at`
      : `select max(observed_at) from sync.observation where resource = $1 and ${accepted} and observed_at < begun.at`
  await sql.query(
    `insert into sync.unsent (resource, field, last_sent_at, from_at, received_from, had, out_of, run_id, columns)
     select $1, begun.field, coalesce((${responses}), begun.at), begun.at, $4, begun.had, begun.out_of, $5,
            string_to_array(begun.columns, ' ')
       from unnest($2::text[], $3::timestamptz[], $6::int[], $7::int[], $8::text[]) as begun(field, at, had, out_of, columns)
     on conflict do nothing`,
    [
      resource,
      confirmed.map(({ subject }) => subject),
      confirmed.map(({ firstAt }) => firstAt),
      receivedAt,
      runId,
      confirmed.map(({ subject }) => before.get(subject)?.had ?? 0),
      confirmed.map(({ subject }) => before.get(subject)?.of ?? 0),
      confirmed.map(({ subject }) => columns(subject)?.join(' ') ?? ''),
    ],
  )
}

/** What follows from a field may be known only now, and less may where another field begins to say it. */
async function keepColumns(
  sql: Sql,
  { resource }: Witness,
  open: KnownFields['open'],
  columns: (field: string) => readonly string[] | undefined,
): Promise<void> {
  for (const { field, columns: before } of open) {
    const now = columns(field)
    if (now && now.join(' ') !== before.join(' '))
      await sql.query('update sync.unsent set columns = $3 where resource = $1 and field = $2 and until_at is null', [
        resource,
        field,
        now,
      ])
  }
}

/** The columns of tables that follow from fields, as `sync.unsent` has them. */
function columnsOf(
  { history, relatedHistories = {}, samples = {} }: ResourceBase,
  { root, related, samples: sampled }: Dependents,
): string[] {
  const named = (table: AnyPgTable | undefined, properties: Iterable<string>) => {
    if (!table) return []
    const { name, columns } = bulkTable(table)
    return [...properties].map((one) => `${name.replace(/^game\./, '')}.${columns.get(one)?.name ?? one}`)
  }
  const withNothing = ([property, values]: readonly [string, ReadonlySet<string>]) =>
    [...values].every(isEmpty) ? [property] : []
  const ofHistory = (of: History | undefined, { columns, parts, hasRows }: DependentColumns) => [
    ...named(of?.root, [...[...columns].flatMap(withNothing), ...(hasRows ? ['*'] : [])]),
    ...[...parts].flatMap(([part, properties]) => named(of?.parts[part], properties)),
  ]
  return [
    ...ofHistory(history, root),
    ...[...related].flatMap(([name, found]) => ofHistory(relatedHistories[name], found)),
    ...[...sampled].flatMap(([name, properties]) => named(samples[name]?.table, properties)),
  ].sort()
}

/** Undoes what this response changed of the shares of records that have each field. */
export async function restorePresence(
  sql: Sql,
  { resource, at }: Witness,
  { presence }: Pick<KnownFields, 'presence'>,
): Promise<void> {
  await sql.query('delete from sync.presence where resource = $1 and observed_at = $2', [resource, at])
  await sql.query(
    `insert into sync.presence (resource, field, had, out_of, observed_at)
     select $1, field, had, out_of, observed_at
       from unnest($2::text[], $3::int[], $4::int[], $5::timestamptz[]) as before(field, had, out_of, observed_at)
     on conflict do nothing`,
    [
      resource,
      presence.map(({ field }) => field),
      presence.map(({ had }) => had),
      presence.map(({ of }) => of),
      presence.map((one) => one.at),
    ],
  )
}

/** Keeps which share of the records has each field. In a resource of one response it is that of the latest with another share. */
async function countPresence(
  sql: Sql,
  { resource, at }: Witness,
  counts: readonly FieldCount[],
  before: ReadonlyMap<string, FieldCount>,
  isOneKey: boolean,
): Promise<void> {
  const share = ({ had, of }: FieldCount) => had / Math.max(1, of)
  const counted = counts.flatMap((now) => {
    if (now.of === 0) return []
    const known = before.get(now.field)
    if (!known) return [now]
    if (!isOneKey) return Math.abs(share(now) - share(known)) > SHARE_DIFFERENCE ? [now] : []
    // The API began to send it.
    if (known.had === 0 && now.had > 0) return [now]
    return known.of < COUNTED_RECORDS_OF_KEYS ? [{ ...now, had: known.had + now.had, of: known.of + now.of }] : []
  })
  if (counted.length === 0) return
  const sorted = counted.toSorted((one, other) => (one.field < other.field ? -1 : 1))
  await sql.query(
    `insert into sync.presence (resource, field, had, out_of, observed_at)
     select $1, field, had, out_of, $2 from unnest($3::text[], $4::int[], $5::int[]) as counted(field, had, out_of)
     on conflict (resource, field) do update
       set had = excluded.had, out_of = excluded.out_of, observed_at = greatest(presence.observed_at, excluded.observed_at)`,
    [resource, at, sorted.map(({ field }) => field), sorted.map(({ had }) => had), sorted.map(({ of }) => of)],
  )
}
