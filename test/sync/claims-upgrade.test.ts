import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { migrate } from '../../src/db/migrations/migrate.ts'
import { migrationsBefore } from '../support/migrations-before.ts'
import { kindsAtNight, migrateAll, testDatabase } from '../support/postgres.ts'

const hour = (number: number) => `'2026-06-01 ${number}:00:00+00'`

describe.each(kindsAtNight)('what was pending before there were claims, on the %s database,', (kind) => {
  test('stays pending: the next response may be the same as the last one, which would count nothing anew', async () => {
    const db = await testDatabase(kind, { migrated: false })
    await migrate(db, { folder: await migrationsBefore('0029_claim'), repeatable: [], clock: systemClock })
    const hash = '0123456789abcdef'
    await db.query(`insert into sync.absence (resource, key, first_missed_at, last_missed_at, times, first_received_at, last_received_at) values
      ('items', 'Oak', ${hour(10)}, ${hour(11)}, 2, ${hour(12)}, ${hour(13)}),
      ('guilds/members', 'a/b', ${hour(10)}, ${hour(10)}, 1, null, null),
      ('online-players', 'unlisted/p', ${hour(10)}, ${hour(10)}, 1, null, null),
      ('world-events', 'skipped/Fall/1780311660', ${hour(10)}, ${hour(10)}, 1, null, null),
      ('leaderboards', 'guildLevel/7', ${hour(10)}, ${hour(10)}, 1, null, null),
      ('territories/holds', 'Old Oak ${hash}', ${hour(10)}, ${hour(10)}, 1, null, null)`)
    await db.query(`insert into sync.unconfirmed_version (resource, key, valid_from, observed_at, ended) values
      ('territories/holds', 'Oak', '2026-06-01 08:00:00.123456+00', ${hour(10)}, null),
      ('territories', 'Elm', ${hour(8)}, ${hour(10)}, ${hour(9)})`)
    await migrateAll(db)
    const claims = await db.query<object>(
      `select resource, kind, subject, value, times, extract(hour from first_at)::int as first, extract(hour from last_at)::int as last,
              extract(hour from first_received_at)::int as first_received, extract(hour from last_received_at)::int as last_received
         from sync.claim order by resource, kind`,
    )
    expect(claims.map((row) => Object.values(row))).toEqual([
      ['guilds/members', 'missing', 'a/b', '', 1, 10, 10, 10, 10],
      ['items', 'missing', 'Oak', '', 2, 10, 11, 12, 13],
      ['leaderboards', 'empty place', 'guildLevel/7', '', 1, 10, 10, 10, 10],
      ['online-players', 'unlisted', 'p', '', 1, 10, 10, 10, 10],
      ['territories', 'returned', 'Elm', '2026-06-01 09:00:00+00', 1, 10, 10, 10, 10],
      ['territories/holds', 'older', 'Old Oak', hash, 1, 10, 10, 10, 10],
      ['territories/holds', 'shown', 'Oak', '2026-06-01 08:00:00.123456+00', 1, 10, 10, 10, 10],
      ['world-events', 'skipped', 'Fall/1780311660', '', 1, 10, 10, 10, 10],
    ])
  })

  test('stays pending where it was counted beside refused keys and restrictions', async () => {
    const db = await testDatabase(kind, { migrated: false })
    await migrate(db, {
      folder: await migrationsBefore('0034_refusals_are_claims'),
      repeatable: [],
      clock: systemClock,
    })
    const player = '00000000-0000-4000-8000-000000000001'
    const guild = 'aaaaaaaa-0000-4000-8000-000000000000'
    await db.query(`insert into sync.work_item (resource, key, refusal, refused_since, refused_times, credential) values
      ('players', '${player}', 'hidden', ${hour(10)}, 1, 'token'), ('guilds', '${guild}', 'gone', ${hour(11)}, 5, null),
      ('guilds', 'shown', null, null, null, 'guest')`)
    await db.query(`insert into sync.privacy_restriction (player_uuid, field_group, told_by, since, awaits, is_held, latest_at, latest_received_at) values
      ('${player}', 'mainAccess', 'players/${player}', ${hour(10)}, 1, false, ${hour(10)}, ${hour(10)}),
      ('${player}', 'onlineStatus', 'guilds/${guild}', ${hour(10)}, 1, true, ${hour(12)}, ${hour(13)}),
      ('${player}', 'guildHistoryAccess', 'guilds/${guild}', ${hour(10)}, 0, false, null, null)`)
    await migrateAll(db)
    const rows = async (sql: string) => (await db.query<object>(sql)).map((row) => Object.values(row))
    expect(
      await rows(
        `select resource, kind, subject, value, times, extract(hour from last_at)::int from sync.claim order by resource, kind`,
      ),
    ).toEqual([
      ['guilds', 'gone', guild, '', 1, 11],
      ['guilds/restrictions', 'restricted', `${guild}/${player}`, 'onlineStatus', 2, 12],
      ['players', 'forbidden', player, 'token', 1, 10],
      ['players/restrictions', 'restricted', `${player}/${player}`, 'mainAccess', 1, 10],
    ])
    expect(await rows('select field_group, is_pending, is_held from sync.privacy_restriction order by 1')).toEqual([
      ['guildHistoryAccess', false, false],
      ['mainAccess', true, false],
      ['onlineStatus', true, true],
    ])
  })
})
