import { describe, expect, test } from 'vitest'
import { shadowName } from '../../src/sync/replay/shadow.ts'

describe('a statement of a replay', () => {
  test('is about the tables of the replay wherever it names one', () => {
    expect(shadowName('select game.item.key from game.item join "sync"."run" using (run_id)')).toBe(
      'select game_replay.item.key from game_replay.item join "sync_replay"."run" using (run_id)',
    )
    expect(shadowName('insert into sync.claim(kind) values ($1)')).toBe(
      'insert into sync_replay.claim(kind) values ($1)',
    )
  })

  test('says the same in its strings and comments', () => {
    for (const text of [
      `select from sync.tier where sample_table = 'game.guild_sample'`,
      `select 'it''s game.item', 'sync.run' from sync.tier`,
      `-- The player's row of game.item, and sync.run's\nselect from sync.tier`,
      `/* of game.item\n and sync.run */ select from sync.tier`,
    ])
      expect(shadowName(text)).toBe(text.replace('from sync.tier', 'from sync_replay.tier'))
  })

  test('leaves what only looks like a table', () => {
    for (const text of ['select my_game.item', 'select one.game.item', 'select gamer.item', 'select $game.item'])
      expect(shadowName(text)).toBe(text)
  })
})
