import { isUuid, uuidText } from '../../api/schemas/form/limits.ts'
import { misfitOf, type OddField, readLeniently } from '../../api/schemas/form/record.ts'
import { fieldsOf } from '../../api/schemas/form/unknown.ts'
import { type Character, parseCharacter } from '../../api/schemas/people/characters.ts'
import { readRestrictions } from '../../api/schemas/people/restrictions.ts'
import { RecordError } from '../../base/errors.ts'
import type { Entity, QuarantinedPart, Row } from '../../sync/declare/resource.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { numbersIn, recordError } from '../record.ts'

const skills = ['strength', 'dexterity', 'intelligence', 'defence', 'agility']
/**
 * A player's characters by uuid (API reference 7.2). One that cannot be read is quarantined, the others go on.
 * @param restricted the access rules that hide something of this player
 */
export function charactersOf(playerUuid: string, characters: unknown, restricted: readonly string[]) {
  const entities: Entity[] = []
  const quarantined: QuarantinedPart[] = []
  const samples = { characterCounters: [] as Row[], professions: [] as Row[], quests: [] as Row[] }
  for (const [uuid, record] of fieldsOf(characters)) {
    const key = `${playerUuid}/${uuidText(uuid)}`
    const known = isUuid(uuid)
    try {
      if (!known) throw recordError('', 'a character without a uuid')
      const { value: character, odd } = readLeniently(record, parseCharacter)
      entities.push(traits(key, character, odd))
      const owner = { playerUuid, characterUuid: uuidText(uuid) }
      samples.characterCounters.push(...counters(owner, character))
      samples.professions.push(...professions(owner, character))
      for (const quest of new Set(character.quests ?? [])) samples.quests.push({ ...owner, quest, done: true })
    } catch (error) {
      if (!(error instanceof RecordError)) throw error
      const path = `/characters/${uuid}${error.context.path ?? ''}`
      const misfit = misfitOf(error, '/characters/*')
      quarantined.push({ key, raw: record, path, reason: error.message, misfit })
    }
  }
  const isMap = typeof characters === 'object' && characters !== null && !Array.isArray(characters)
  const hidden = restricted.includes('characterListAccess') || restricted.includes('huntedCharacterAccess')
  // Otherwise there may be others: the list, or some kind of character, is hidden.
  return { entities, complete: isMap && !hidden, samples, quarantined }
}

/** What makes a character this one. What moves while it is played is in the samples. */
function traits(key: string, character: Character, odd: readonly OddField[]): Entity {
  const { type, reskin, nickname, level, gamemode, meta, preEconomy, removedStat } = character
  const { names: restricted, odd: oddRules } = readRestrictions(character)
  const [playerUuid, characterUuid] = key.split('/')
  const named = { type, reskin, nickname, level, gamemode, meta, preEconomy, removedStat, restrictions: restricted }
  return {
    key,
    document: { ...unnamed(character), ...named } as Json,
    root: {
      playerUuid,
      characterUuid,
      type,
      reskin: typeof reskin === 'boolean' ? (reskin ? 'true' : null) : reskin,
      nickname,
      level,
      gamemodes: gamemode,
      died: meta?.died,
      preEconomy,
      restricted,
      removedStats: removedStat,
    },
    parts: {},
    odd: [...odd, ...oddRules].map((one) => ({ ...one, anywhere: `/characters/*${one.anywhere}` })),
  }
}

/** Fields that are neither numbers nor named here. */
function unnamed(character: Character): object {
  const { skillPoints: _s, professions: _p, dungeons: _d, raids: _r, quests: _q, pvp: _v, ...rest } = character
  return Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null && typeof value !== 'number'))
}

type Owner = { readonly playerUuid: string; readonly characterUuid: string }

/** Everything that is counted about a character. Only skills with points are sent, so the others have none. */
function counters(owner: Owner, character: Character): Row[] {
  const { level: _l, professions: _p, skillPoints, ...counted } = character
  const hidden = !skillPoints || Object.values(skillPoints).some((points) => typeof points === 'string')
  const { defense, ...points } = skillPoints ?? {}
  const all = { ...Object.fromEntries(skills.map((skill) => [skill, 0])), ...(defense ? { defence: defense } : {}) }
  const numbers = numbersIn({ ...counted, ...(hidden ? {} : { skillPoints: { ...all, ...points } }) })
  return numbers.map(([counter, value]) => ({ ...owner, counter, value }))
}

function professions(owner: Owner, { professions = {} }: Character): Row[] {
  return Object.entries(professions ?? {}).flatMap(([profession, one]) =>
    one ? [{ ...owner, profession, level: one.level, xpPercent: one.xpPercent }] : [],
  )
}
