import * as z from 'zod'
import { flag, hiddenBy, known, names, number, text } from '../form/field-meta.ts'
import { recordParser } from '../form/record.ts'
import { duels, tally } from '../form/totals.ts'
import { restrictionsSchema } from './restrictions.ts'

/** The names the service has used so far (API reference 7.2); others are still accepted. */
export const characterVocabulary = {
  type: ['ARCHER', 'WARRIOR', 'ASSASSIN', 'MAGE', 'SHAMAN'],
  gamemode: ['hunted', 'ironman', 'ultimate_ironman', 'craftsman', 'hardcore'],
  profession: [
    'fishing',
    'woodcutting',
    'mining',
    'farming',
    'scribing',
    'jeweling',
    'alchemism',
    'cooking',
    'weaponsmithing',
    'tailoring',
    'woodworking',
    'armouring',
  ],
  skillPoint: ['strength', 'dexterity', 'intelligence', 'defence', 'agility'],
} as const

/**
 * One character, light or in full, as the value in a map keyed by its uuid. Every field may be missing or null, and is
 * for a stat its owner hides or has had removed (API reference 7.2); fields not named here are kept.
 */
export const characterSchema = z.looseObject({
  type: hiddenBy('characterListAccess', known(characterVocabulary.type).nullish()),
  /** The name of the other look of the class, or just whether it is worn. */
  reskin: hiddenBy('characterListAccess', z.union([z.boolean(), z.string()]).nullish()),
  nickname: hiddenBy('characterListAccess', text),
  level: hiddenBy('characterListAccess', number),
  xp: hiddenBy('characterListAccess', number),
  xpPercent: hiddenBy('characterListAccess', number),
  totalLevel: hiddenBy('characterListAccess', number),
  gamemode: hiddenBy('characterListAccess', z.array(known(characterVocabulary.gamemode)).nullish()),
  meta: hiddenBy('characterListAccess', z.looseObject({ died: flag }).nullish()),
  preEconomy: flag,
  contentCompletion: number,
  wars: number,
  /** Hours, with fractions. */
  playtime: number,
  mobsKilled: number,
  chestsFound: number,
  itemsIdentified: number,
  /** Overflows, so it may be negative. */
  blocksWalked: number,
  logins: number,
  deaths: number,
  discoveries: number,
  pvp: duels.nullish(),
  /** Only those allocated; `{error: "..."}` when hidden; `defense` has been met next to `defence`. */
  skillPoints: hiddenBy(
    'characterBuildAccess',
    z.record(z.string(), z.union([z.number(), z.string()]).nullish()).nullish(),
  ),
  professions: z.record(z.string(), z.looseObject({ level: number, xpPercent: number }).nullish()).nullish(),
  dungeons: tally.nullish(),
  raids: tally.nullish(),
  worldEvents: number,
  lootruns: number,
  caves: number,
  quests: names,
  restrictions: hiddenBy('characterListAccess', restrictionsSchema.nullish()),
  /** Names of the stats that are gone for everybody but the owner. */
  removedStat: hiddenBy('characterListAccess', names),
})

export type Character = z.output<typeof characterSchema>

/** @throws RecordError with the JSON pointer of the first thing that is no character */
export const parseCharacter: (record: unknown) => Character = recordParser('character', characterSchema)
