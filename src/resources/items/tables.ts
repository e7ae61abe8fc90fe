import { bigint, boolean, doublePrecision, integer, text } from '../../db/columns.ts'
import { historyTable, partTable } from '../../db/history.ts'

const points = (skill: string) => integer(`Points of ${skill} that the wearer needs. NULL: none required.`)
const raised = (skill: string) =>
  integer(`Points of ${skill} that the ingredient adds to what a crafted weapon or armour requires; may be negative.`)
const effectOn = (which: string) =>
  integer(`Effect, in percent, on the strength of the ingredients ${which}; may be negative, 0: none.`)
const position = () => ({ position: integer('Place in the list of the API, from 0.') })

/** API reference 5.2. */
export const item = historyTable(
  'item',
  'Versions of items of all eight kinds. One row per interval without a change; valid_until = infinity is the current version. NULL in a column: the API did not send it.',
  { internalName: text('Natural key: internalName of the API; unique, and stable when an item is renamed.') },
  {
    displayName: text(
      'What players see; differs from internal_name for tools, materials, tomes, and is not unique. The internal name where the API sends none.',
    ).notNull(),
    type: text('Kind: weapon, armour, accessory, tome, charm, tool, ingredient, material.').notNull(),
    subType: text(
      'Kind within the kind: spear, bow, helmet, ring, guild_tome, pickaxe, mining. NULL for charms and ingredients, which have none.',
    ),
    tier: text(
      'Rarity: normal, unique, rare, legendary, fabled, mythic (set and common before 2026); TIER_0 to TIER_3 for ingredients. NULL for materials, which have none.',
    ),
    level: integer('Level that the wearer, user or crafter needs. NULL: the API did not send it.'),
    classRequirement: text('Class that may use it: archer, warrior, assassin, mage, shaman. NULL: any.'),
    quest: text('Quest that must be completed first. NULL: none.'),
    strength: points('strength'),
    dexterity: points('dexterity'),
    intelligence: points('intelligence'),
    defence: points('defence'),
    agility: points('agility'),
    attackSpeed: text(
      'Attack speed of a weapon: superSlow, verySlow, slow, normal, fast, veryFast, superFast. NULL: no weapon.',
    ),
    averageDps: bigint(
      'Average damage per second of a weapon, as the API computes it. NULL: no weapon, or one of a few for which the API does not send it.',
    ),
    powderSlots: integer('Powders that fit. NULL: none.'),
    gatheringSpeed: integer('Gathering speed of a tool. NULL: no tool.'),
    durability: integer('Durability of a tool, in points. NULL: no tool. Crafted things: see game.recipe.'),
    restriction: text('none, untradable, quest item. NULL: the API did not send it (before April 2026: none).'),
    dropRestriction: text('Where it may drop: normal, never, lootchest, dungeon. NULL: the API did not send it.'),
    identified: boolean('True: comes identified, so nothing is rolled. NULL: it does not; the API never sends false.'),
    allowCraftsman: boolean(
      'True: a player of craftsman mode may use it. NULL: not, or the API did not send it; it never sends false.',
    ),
    dropName: text(
      'Name of the one place or person that the item comes from. NULL: the API names none. Where that is: game.item_drop_place.',
    ),
    dropEvent: text('Seasonal event in which the item is available, such as bonfire. NULL: no event.'),
    lore: text('Description shown on the item. NULL: none.'),
    emblem: text(
      'Frame that the game draws around the icon, such as diamond_6 or square. NULL: the API did not send it.',
    ),
    iconFormat: text(
      'How to read the icon: attribute (a model), skin (a texture), legacy (an old numeric id). NULL: no icon.',
    ),
    iconId: text('Minecraft item of the icon, such as minecraft:potion. NULL: the icon is a plain text.'),
    iconName: text(
      'Model of the icon, such as bow.air3; for a skin its texture, for a legacy icon id:damage. Model numbers are not kept: they change with every resource pack.',
    ),
  },
  {
    document: true,
    comments: { document: 'The whole record in the shape of the API, without the model numbers of icons.' },
  },
)

/** A fixed value (`raw`, `min` and `max` equal) or a range; `min` may lie above `max`, as for spell costs. */
const range = () => ({
  raw: bigint('The value before the roll. NULL: the API did not send it.'),
  min: bigint('min of the range; the value itself when is_fixed. May lie above max, as for spell costs.').notNull(),
  max: bigint('max of the range; the value itself when is_fixed. May lie below min, as for spell costs.').notNull(),
  isFixed: boolean(
    'True: always this value; raw, min and max are equal. False: each copy of the item rolls its own.',
  ).notNull(),
})

export const itemIdentification = partTable(
  item,
  'item_identification',
  'Identifications (bonuses and maluses) of a version of an item, one row each, so that a condition such as max > 10 finds fixed values and ranges alike.',
  {
    identification: text(
      'Name as the API spells it, such as rawStrength or 1stSpellCost, with its misspellings and duplicates (elementalDefence, elementalDefense).',
    ),
  },
  range(),
)

export const itemBase = partTable(
  item,
  'item_base',
  'Base stats of a version of an item: damages, health, defences, and the bonuses of charms.',
  { stat: text('Name as the API spells it, such as baseHealth or baseFireDamage.') },
  range(),
)

export const itemMajorId = partTable(
  item,
  'item_major_id',
  'Major identifications of a version of an item.',
  { majorId: text('Label that players see, such as Tidal Drift; the enumerations spell it in camel case.') },
  { description: text('What it does, as HTML text.').notNull() },
)

export const itemElement = partTable(
  item,
  'item_element',
  'Elements that a version of an item is marked with.',
  position(),
  { element: text('earth, thunder, water, fire or air.').notNull() },
)

export const itemInSet = partTable(
  item,
  'item_in_set',
  'Sets that a version of an item belongs to, by its own record.',
  position(),
  { setName: text('The set: name in game.item_set.').notNull() },
)

export const itemDropType = partTable(
  item,
  'item_drop_type',
  'Ways to obtain an item, as its dropMeta has them. An item may have several.',
  position(),
  {
    dropType: text(
      'altar, challenge, dungeon, dungeonMerchant, event, guild, lootrun, merchant, miniboss, quest, raid.',
    ).notNull(),
  },
)

export const itemDropPlace = partTable(
  item,
  'item_drop_place',
  'Where a version of an item is found: the place that dropMeta names, and the creatures of droppedBy, each with any number of places.',
  {
    source: text('dropMeta (a place or person) or droppedBy (a creature that drops the ingredient).'),
    position: integer('Number of the creature in droppedBy, from 0; 0 for dropMeta.'),
    place: integer('Number of the place of that creature, from 0.'),
  },
  {
    name: text('Name of the place, person or creature. NULL: the API did not send it.'),
    x: doublePrecision('East-west, in blocks. NULL: nowhere in particular. 99999: the API knows no place.'),
    y: doublePrecision('Height, in blocks. NULL: nowhere in particular. 99999: the API knows no place.'),
    z: doublePrecision('North-south, in blocks. NULL: nowhere in particular. 99999: the API knows no place.'),
    radius: doublePrecision('Distance, in blocks, within which it is found. NULL: the API did not send it.'),
  },
)

export const itemIngredient = partTable(
  item,
  'item_ingredient',
  'What only ingredients have: what they do to the thing crafted with them, and to the other ingredients beside them. One row per version of an ingredient. NULL in a column: the API did not send it.',
  {},
  {
    charges: integer('Uses that it adds to a crafted consumable; may be negative.'),
    duration: integer('Seconds that it adds to a crafted consumable; may be negative.'),
    durabilityModifier: integer(
      'Durability that it adds to a crafted weapon, armour or accessory, in thousandths (-181000 is 181 less); mostly negative.',
    ),
    strengthRequirement: raised('strength'),
    dexterityRequirement: raised('dexterity'),
    intelligenceRequirement: raised('intelligence'),
    defenceRequirement: raised('defence'),
    agilityRequirement: raised('agility'),
    onLeft: effectOn('to its left'),
    onRight: effectOn('to its right'),
    onAbove: effectOn('above it'),
    onUnder: effectOn('under it'),
    onTouching: effectOn('that touch it'),
    onNotTouching: effectOn('that do not touch it'),
  },
)

export const itemSkill = partTable(
  item,
  'item_skill',
  'Crafting skills that a version of an ingredient can be used for.',
  position(),
  {
    skill: text('armouring, tailoring, weaponsmithing, woodworking, jeweling, cooking, alchemism, scribing.').notNull(),
  },
)

export const itemMaterialChance = partTable(
  item,
  'item_material_chance',
  'How likely gathering gives a version of a material in each of its tiers.',
  { tier: text('TIER_1, TIER_2 or TIER_3.') },
  { percent: integer('Chance in percent. The tiers do not add up to 100.').notNull() },
)

export const itemHistory = {
  root: item,
  parts: {
    identifications: itemIdentification,
    base: itemBase,
    majorIds: itemMajorId,
    elements: itemElement,
    sets: itemInSet,
    dropTypes: itemDropType,
    dropPlaces: itemDropPlace,
    ingredient: itemIngredient,
    skills: itemSkill,
    materialChances: itemMaterialChance,
  },
}
