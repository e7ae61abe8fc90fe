import { weights } from './draw.ts'

/**
 * How often each identification is met, as counted in one live response of May 2026: some everywhere, some on a single
 * item. The keys are the API's vocabulary, commonest first.
 */
export const identificationFrequency = weights(
  'walkSpeed:1860 rawAgility:1109 rawStrength:1106 rawDefence:1089 healthRegenRaw:1068 manaRegen:974 rawDexterity:970 ' +
    'manaSteal:959 rawIntelligence:951 lifeSteal:889 spellDamage:888 combatExperience:875 mainAttackDamage:802 ' +
    'rawHealth:770 rawMainAttackDamage:713 earthDamage:603 thunderDamage:586 lootBonus:573 healthRegen:563 ' +
    'waterDamage:551 fireDamage:530 waterDefence:483 rawSpellDamage:473 fireDefence:470 airDamage:470 reflection:452 ' +
    'rawMaxMana:409 earthDefence:405 airDefence:404 mainAttackRange:400 rawAttackSpeed:384 exploding:378 thorns:363 ' +
    'poison:360 damage:329 thunderDefence:292 elementalDefence:280 healingEfficiency:272 knockback:254 sprint:200 ' +
    'stealing:193 3rdSpellCost:182 1stSpellCost:175 jumpHeight:174 slowEnemy:169 sprintRegen:168 raw2ndSpellCost:158 ' +
    'raw3rdSpellCost:157 raw1stSpellCost:153 2ndSpellCost:138 4thSpellCost:137 elementalDamage:123 raw4thSpellCost:119 ' +
    'weakenEnemy:112 rawDamage:98 rawThunderDamage:69 rawWaterSpellDamage:67 rawEarthMainAttackDamage:65 ' +
    'rawAirDamage:60 earthMainAttackDamage:58 waterSpellDamage:58 rawThunderMainAttackDamage:57 rawFireDamage:51 ' +
    'rawFireMainAttackDamage:51 gatherXpBonus:48 rawAirMainAttackDamage:47 rawAirSpellDamage:43 ' +
    'rawThunderSpellDamage:42 airSpellDamage:36 rawElementalSpellDamage:36 rawEarthDamage:34 rawElementalDamage:33 ' +
    'elementalSpellDamage:33 earthSpellDamage:31 rawFireSpellDamage:30 thunderSpellDamage:29 neutralDamage:24 ' +
    'rawWaterDamage:24 fireSpellDamage:24 rawEarthSpellDamage:23 fireMainAttackDamage:20 criticalDamageBonus:18 ' +
    'thunderMainAttackDamage:17 rawNeutralDamage:16 rawElementalMainAttackDamage:16 gatherSpeed:13 ' +
    'rawNeutralMainAttackDamage:7 lootQuality:7 elementalMainAttackDamage:5 rawNeutralSpellDamage:4 ' +
    'airMainAttackDamage:4 neutralSpellDamage:3 rawWaterMainAttackDamage:3 neutralMainAttackDamage:1 ' +
    'gatheringExperience:1 waterMainAttackDamage:1',
)
