import { describe, expect, test } from 'vitest'
import { unknownFields } from '../../src/api/schemas/form/unknown.ts'
import {
  guildMemberSchema,
  guildSchema,
  guildVocabulary,
  membersOf,
  memberTotal,
  parseGuild,
  parseGuildMember,
  readGuildList,
} from '../../src/api/schemas/guilds.ts'
import { characterVocabulary, parseCharacter } from '../../src/api/schemas/people/characters.ts'
import { parsePlayer, playerSchema, readOnlineList } from '../../src/api/schemas/people/players.ts'
import { restrictionsOf } from '../../src/api/schemas/people/restrictions.ts'
import { parseSeason, seasonSchema } from '../../src/api/schemas/seasons.ts'
import { parseTerritory, territorySchema, territoryVocabulary } from '../../src/api/schemas/territories.ts'
import { documentedExample, hasRecordings, recordedBelow } from '../support/recorded.ts'

const entries = (body: unknown): [string, unknown][] => Object.entries(body as Record<string, unknown>)
const values = (body: unknown): unknown[] => entries(body).map(([, value]) => value)

if (!hasRecordings) {
  test.skip('the recorded guilds, territories and players are parsed (skipped: recorded data absent)')
} else {
  describe('recorded territories', () => {
    const answers = recordedBelow('/guild/list/territory').map(({ body }) => values(body()))

    test('of 2025 and 2026 are understood, lose no field and have none that is unknown', () => {
      expect(answers).toHaveLength(26)
      const strange = unknownFields(territorySchema)
      for (const record of answers.flat()) {
        expect(parseTerritory(record)).toStrictEqual(record)
        expect(strange(record)).toEqual([])
      }
    })

    test('use no name that the vocabulary lacks', () => {
      const territories = answers.flat().map(parseTerritory)
      const levels = territories.flatMap(({ treasury, defences }) => [treasury, defences])
      const types = territories.flatMap(({ resources }) =>
        Array.isArray(resources) ? resources.map(({ type }) => type) : [],
      )
      const seen = (names: unknown[]) => [...new Set(names.filter((name) => typeof name === 'string'))].sort()
      expect(seen(levels)).toEqual([...territoryVocabulary.level].sort())
      expect(seen(types)).toEqual([...territoryVocabulary.resourceType].sort())
    })
  })

  describe('recorded guilds', () => {
    const profiles = recordedBelow('/guild/uuid/')
    const sampled = profiles.filter(({ at }, index) => at.startsWith('2024') || index % 20 === 0)

    test('and their members are understood, lose no field and are as many as they say', () => {
      expect(profiles).toHaveLength(2440)
      expect(sampled.length).toBeGreaterThan(57 + 110)
      const strange = [unknownFields(guildSchema), unknownFields(guildMemberSchema)] as const
      const ranks = new Set<string>()
      for (const { body } of sampled) {
        const record = body()
        const guild = parseGuild(record)
        expect(guild).toStrictEqual(record)
        expect(strange[0](record)).toEqual([])
        const members = membersOf(guild)
        expect(members).toHaveLength(memberTotal(guild) ?? -1)
        for (const member of members) {
          ranks.add(member.rank)
          const parsed = parseGuildMember(member.record)
          expect(parsed).toStrictEqual(member.record)
          expect(strange[1](member.record)).toEqual([])
          expect(parsed.uuid ?? parsed.username).toEqual(expect.any(String))
        }
      }
      expect([...ranks].sort()).toEqual([...guildVocabulary.rank].sort())
    })

    test('name what their members hide in camelCase', () => {
      const last = profiles.at(-1)?.body() as { members: unknown }
      const hidden = membersOf(last).flatMap(({ record }) => restrictionsOf(record))
      expect(new Set(hidden)).toEqual(new Set(['guildHighRankedAccess', 'mainAccess', 'onlineStatus']))
    })
  })

  describe('recorded lists', () => {
    test('of guilds have as many entries as the body, each with its uuid, in either keying', () => {
      const lists = recordedBelow('/guild/list/guild').map((one) => ({ ...one, guilds: readGuildList(one.body()) }))
      expect(lists.map(({ guilds }) => guilds.length).sort((a, b) => a - b)).toEqual([
        12400, 12884, 12888, 13795, 13795, 15493, 15493,
      ])
      for (const { guilds } of lists) expect(guilds.filter(({ uuid }) => uuid === undefined)).toEqual([])
      const newest = lists.filter(({ at }) => at.startsWith('2026-05-28'))
      expect(newest.map(({ query }) => query).sort()).toEqual(['', 'identifier=uuid'])
      const [one, other] = newest.map(({ guilds }) => new Map(guilds.map((guild) => [guild.uuid, guild])))
      expect(one).toEqual(other)
      const kept = [...(one?.values() ?? [])]
      expect(kept.filter(({ name }) => name === '')).toHaveLength(1)
      expect(kept.filter(({ prefix }) => prefix === null)).toHaveLength(1)
    })

    test('of players online have as many entries as their total', () => {
      const [answer] = recordedBelow('/player')
      const { total, players } = readOnlineList(answer?.body())
      expect([total, players.length]).toEqual([657, 657])
      expect(new Set(players.map(({ world }) => world)).size).toBe(27)
    })
  })

  describe('the examples of the documentation', () => {
    test('of the guild family are understood and have no unknown field', () => {
      const guild = parseGuild(documentedExample('guild-profile.json'))
      expect(unknownFields(guildSchema)(guild)).toEqual([])
      for (const { record } of membersOf(guild)) {
        expect(parseGuildMember(record)).toStrictEqual(record)
        expect(unknownFields(guildMemberSchema)(record)).toEqual([])
        expect(restrictionsOf(record)).toEqual(['guildHighRankedAccess'])
      }
      const [territories, seasons] = ['territories', 'seasons'].map((name) =>
        values(documentedExample(`guild-${name}.json`)),
      )
      expect([territories, seasons]).not.toContainEqual([])
      for (const record of territories ?? []) expect(parseTerritory(record)).toStrictEqual(record)
      for (const record of seasons ?? []) {
        expect(parseSeason(record)).toStrictEqual(record)
        expect(unknownFields(seasonSchema)(record)).toEqual([])
      }
      expect(readGuildList(documentedExample('guild-list.json'))).toEqual(
        readGuildList(documentedExample('guild-list-identifier-uuid.json')),
      )
    })

    test('of the player family are understood and have no unknown field', () => {
      const profile = documentedExample('player-profile.json')
      const player = parsePlayer(profile)
      expect(player).toStrictEqual(profile)
      expect(unknownFields(playerSchema)(profile)).toEqual([])
      const characters = [
        ...values(player.characters),
        ...values(documentedExample('player-characters.json')),
        documentedExample('player-character.json'),
      ]
      for (const record of characters) {
        const character = parseCharacter(record)
        expect(character).toStrictEqual(record)
        expect(characterVocabulary.type).toContain(character.type)
        for (const name of Object.keys(character.professions ?? {}))
          expect(characterVocabulary.profession).toContain(name)
      }
      expect(readOnlineList(documentedExample('player-online.json')).total).toBe(1)
    })
  })
}
