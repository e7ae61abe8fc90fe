import { seededRandom } from '../../../base/clock.ts'
import { type ClassName, classNames } from '../../content/abilities.ts'
import { between, chance, drawUuid, pick } from '../../generator/draw.ts'
import { nouns } from '../../generator/words.ts'
import { mix } from '../guilds/economy.ts'
import { counter } from '../people/counters.ts'
import type { Hidden } from '../people/privacy.ts'
import type { Player } from '../state.ts'
import { listedDungeons, listedRaids, playtime } from './counted.ts'

const classes = ['ARCHER', 'WARRIOR', 'ASSASSIN', 'MAGE', 'SHAMAN']
const modes = ['hunted', 'ironman', 'craftsman', 'hardcore']
const skills = ['strength', 'dexterity', 'intelligence', 'defence', 'agility']
const professions =
  'fishing woodcutting mining farming scribing jeweling alchemism cooking weaponsmithing tailoring woodworking armouring'.split(
    ' ',
  )

/** What a player's characters are by nature: drawn from the player's salt, so the same in every response. */
function natures(player: Player) {
  const random = seededRandom(player.salt)
  return Array.from({ length: between(random, 1, 3) }, (_, nth) => ({
    uuid: drawUuid(random, '9'),
    type: pick(random, classes),
    reskinned: chance(random, 0.2),
    nickname: chance(random, 0.15) ? pick(random, nouns) : null,
    level: between(random, 1, 106),
    died: chance(random, 0.02),
    modes: modes.filter(() => chance(random, 0.06)),
    // The first character gets two thirds of everything, the others what is left.
    share: nth === 0 ? 2 / 3 : 1 / 6,
    quests: between(random, 0, 12),
    salt: Math.floor(random() * 2 ** 32),
  }))
}

type Nature = ReturnType<typeof natures>[number]

/** The characters in short, by uuid (API reference 7.2). */
export function lightCharacters(player: Player) {
  return Object.fromEntries(natures(player).map((nature) => [nature.uuid, light(player, nature)]))
}

/** The characters in full, by uuid; what is hidden is absent, or in short. */
export function fullCharacters(player: Player, hidden: Hidden) {
  return Object.fromEntries(
    natures(player).map((nature) => [
      nature.uuid,
      hidden.characterNumbers
        ? { ...light(player, nature), restrictions: { characterDataAccess: true } }
        : { ...light(player, nature), ...full(player, nature, hidden) },
    ]),
  )
}

/** What a build follows from, by the character's uuid. */
export function buildsOf(player: Player) {
  return new Map(
    natures(player).map(({ uuid, type, level, salt }) => [uuid, { className: className(type), level, salt }] as const),
  )
}

/** The uuid of the character that a player plays or played last. */
export function activeCharacter(player: Player): string | null {
  return natures(player)[0]?.uuid ?? null
}

function className(type: string): ClassName {
  return classNames.find((one) => one === type.toLowerCase()) ?? 'archer'
}

function light(player: Player, { type, reskinned, nickname, level, modes: gamemode, died, share, salt }: Nature) {
  return {
    type,
    reskin: reskinned ? `${type}_RESKIN` : null,
    nickname,
    level,
    xp: Math.floor(counter(player, 'mobsKilled') * share * 900),
    xpPercent: salt % 100,
    totalLevel: level + Math.floor(counter(player, 'totalLevel') * share),
    gamemode,
    meta: { died },
  }
}

function full(player: Player, { share, quests, salt }: Nature, hidden: Hidden) {
  const part = (whole: number) => Math.floor(whole * share)
  return {
    preEconomy: null,
    contentCompletion: part(counter(player, 'contentCompletion')),
    wars: part(counter(player, 'wars')),
    playtime: Math.round(playtime(player) * share * 100) / 100,
    mobsKilled: part(counter(player, 'mobsKilled')),
    chestsFound: part(counter(player, 'chestsFound')),
    itemsIdentified: part(counter(player, 'chestsFound') * 2),
    // Overflows in the game itself (API reference 7.2).
    blocksWalked: Math.floor(part(counter(player, 'mobsKilled')) * 300) | 0,
    logins: part(player.rises.length + (salt % 400)),
    deaths: part(counter(player, 'mobsKilled') / 300),
    discoveries: salt % 130,
    pvp: { kills: part(counter(player, 'pvpKills')), deaths: part(counter(player, 'pvpDeaths')) },
    skillPoints: hidden.build ? null : Object.fromEntries(skills.map((skill, nth) => [skill, mix(salt, nth) % 100])),
    professions: Object.fromEntries(
      professions.map((name, nth) => [
        name,
        { level: 1 + (mix(salt, nth + 9) % 120), xpPercent: mix(salt, nth + 30) % 100 },
      ]),
    ),
    dungeons: listedDungeons(part(counter(player, 'dungeons'))),
    raids: listedRaids(part(counter(player, 'raids'))),
    worldEvents: part(counter(player, 'worldEvents')),
    lootruns: part(counter(player, 'lootruns')),
    caves: part(counter(player, 'caves')),
    quests: Array.from({ length: quests }, (_, nth) => `The ${nouns[mix(salt, nth) % nouns.length]} Errand ${nth + 1}`),
    restrictions: { characterDataAccess: false, characterBuildAccess: hidden.build },
    removedStat: salt % 50 === 0 ? ['deaths'] : [],
  }
}
