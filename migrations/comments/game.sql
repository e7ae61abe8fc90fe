-- What every table and column of schema game means. Source of the facts: API reference, section 5.

comment on table game.item is
  'Versions of items of all eight kinds. One row per item and stretch of time in which it stood still; valid_until = infinity is now. NULL in a column: the API did not say.';
comment on column game.item.internal_name is
  'Natural key: what the API calls internalName; unique, and stable when an item is renamed.';
comment on column game.item.display_name is
  'What players see; differs from internal_name for tools, materials, tomes, and is not unique. The internal name where the API sends none.';
comment on column game.item.type is
  'Kind: weapon, armour, accessory, tome, charm, tool, ingredient, material.';
comment on column game.item.sub_type is
  'Kind within the kind: spear, bow, helmet, ring, guild_tome, pickaxe, mining. NULL for charms and ingredients, which have none.';
comment on column game.item.tier is
  'Rarity: normal, unique, rare, legendary, fabled, mythic (set and common before 2026); TIER_0 to TIER_3 for ingredients. NULL for materials, which have none.';
comment on column game.item.level is
  'Level that the wearer, user or crafter needs. NULL: the API did not say.';
comment on column game.item.class_requirement is
  'Class that may use it: archer, warrior, assassin, mage, shaman. NULL: any.';
comment on column game.item.quest is
  'Quest that must be completed first. NULL: none.';
comment on column game.item.strength is
  'Points of strength that the wearer needs. NULL: none asked for.';
comment on column game.item.dexterity is
  'Points of dexterity that the wearer needs. NULL: none asked for.';
comment on column game.item.intelligence is
  'Points of intelligence that the wearer needs. NULL: none asked for.';
comment on column game.item.defence is
  'Points of defence that the wearer needs. NULL: none asked for.';
comment on column game.item.agility is
  'Points of agility that the wearer needs. NULL: none asked for.';
comment on column game.item.attack_speed is
  'Attack speed of a weapon: superSlow, verySlow, slow, normal, fast, veryFast, superFast. NULL: no weapon.';
comment on column game.item.average_dps is
  'Average damage per second of a weapon, as the API computes it. NULL: no weapon, or one of a few for which the API does not say.';
comment on column game.item.powder_slots is
  'Powders that fit. NULL: none.';
comment on column game.item.gathering_speed is
  'Gathering speed of a tool. NULL: no tool.';
comment on column game.item.durability is
  'Durability of a tool, in points. NULL: no tool. Crafted things: see game.recipe.';
comment on column game.item.restriction is
  'none, untradable, quest item. NULL: the API did not say (before April 2026: none).';
comment on column game.item.drop_restriction is
  'Where it may drop: normal, never, lootchest, dungeon. NULL: the API did not say.';
comment on column game.item.identified is
  'True: comes identified, so nothing is rolled. NULL: it does not; the API never says false.';
comment on column game.item.allow_craftsman is
  'True: a player of craftsman mode may use it. NULL: not, or the API did not say; it never says false.';
comment on column game.item.drop_name is
  'Name of the one place or person that the item comes from. NULL: the API names none. Where that is: game.item_drop_place.';
comment on column game.item.drop_event is
  'Seasonal event in which the item is to be had, such as bonfire. NULL: no event.';
comment on column game.item.lore is
  'Description shown on the item. NULL: none.';
comment on column game.item.emblem is
  'Frame that the game draws around the icon, such as diamond_6 or square. NULL: the API did not say.';
comment on column game.item.icon_format is
  'How to read the icon: attribute (a model), skin (a texture), legacy (an old numeric id). NULL: no icon.';
comment on column game.item.icon_id is
  'Minecraft item of the icon, such as minecraft:potion. NULL: the icon is a plain text.';
comment on column game.item.icon_name is
  'Model of the icon, such as bow.air3; for a skin its texture, for a legacy icon id:damage. Model numbers are not kept: they change with every resource pack.';
comment on column game.item.document is
  'The whole record in the shape the API uses, without the model numbers of icons.';
comment on column game.item.valid_from is
  'Start, inclusive: the instant the answer speaks for that showed this version first.';
comment on column game.item.valid_until is
  'End, exclusive: the instant the answer speaks for that showed something else, or lacked the key. infinity: this version is the current one.';
comment on column game.item.previous_until is
  'End of the version before this one: equal to valid_from when nothing lay between, earlier after an absence. NULL: the first version of its key.';
comment on column game.item.hash is
  'SHA-256 of the document as JSON text with sorted keys, 32 bytes. Equal: the API said the same.';
comment on column game.item.extra is
  'Fields that the API sent and that have no column, in the shape it sent them; elements of an array by their number. NULL: there are none.';

comment on table game.item_identification is
  'Identifications (bonuses and maluses) of a version of an item, one row each, so that a condition such as max > 10 finds fixed values and ranges alike.';
comment on column game.item_identification.internal_name is
  'The item: its root is in game.item.';
comment on column game.item_identification.valid_from is
  'Start of the version of the root that the row belongs to: its valid_from.';
comment on column game.item_identification.identification is
  'Name as the API writes it, such as rawStrength or 1stSpellCost, with its typing errors and doublets (elementalDefence, elementalDefense).';
comment on column game.item_identification.raw is
  'The value before the roll. NULL: the API did not say.';
comment on column game.item_identification.min is
  'End of the range that the API calls min; the value itself when is_fixed. May lie above max, as for spell costs.';
comment on column game.item_identification.max is
  'End of the range that the API calls max; the value itself when is_fixed. May lie below min, as for spell costs.';
comment on column game.item_identification.is_fixed is
  'True: always this value, and raw, min and max are equal. False: each copy of the item rolls its own.';

comment on table game.item_base is
  'Base stats of a version of an item: damages, health, defences, and the bonuses of charms.';
comment on column game.item_base.internal_name is
  'The item: its root is in game.item.';
comment on column game.item_base.valid_from is
  'Start of the version of the root that the row belongs to: its valid_from.';
comment on column game.item_base.stat is
  'Name as the API writes it, such as baseHealth or baseFireDamage.';
comment on column game.item_base.raw is
  'The value before the roll. NULL: the API did not say.';
comment on column game.item_base.min is
  'End of the range that the API calls min; the value itself when is_fixed. May lie above max, as for spell costs.';
comment on column game.item_base.max is
  'End of the range that the API calls max; the value itself when is_fixed. May lie below min, as for spell costs.';
comment on column game.item_base.is_fixed is
  'True: always this value, and raw, min and max are equal. False: each copy of the item rolls its own.';

comment on table game.item_major_id is
  'Major identifications of a version of an item.';
comment on column game.item_major_id.internal_name is
  'The item: its root is in game.item.';
comment on column game.item_major_id.valid_from is
  'Start of the version of the root that the row belongs to: its valid_from.';
comment on column game.item_major_id.major_id is
  'Label that players see, such as Tidal Drift; the enumerations write the same thing in camel case.';
comment on column game.item_major_id.description is
  'What it does, as HTML text.';

comment on table game.item_element is
  'Elements that a version of an item is marked with.';
comment on column game.item_element.internal_name is
  'The item: its root is in game.item.';
comment on column game.item_element.valid_from is
  'Start of the version of the root that the row belongs to: its valid_from.';
comment on column game.item_element.position is
  'Place in the list of the API, from 0.';
comment on column game.item_element.element is
  'earth, thunder, water, fire or air.';

comment on table game.item_in_set is
  'Sets that a version of an item says it belongs to.';
comment on column game.item_in_set.internal_name is
  'The item: its root is in game.item.';
comment on column game.item_in_set.valid_from is
  'Start of the version of the root that the row belongs to: its valid_from.';
comment on column game.item_in_set.position is
  'Place in the list of the API, from 0.';
comment on column game.item_in_set.set_name is
  'The set: name in game.item_set.';

comment on table game.item_drop_type is
  'Ways in which an item is come by, as its dropMeta says. An item may have several.';
comment on column game.item_drop_type.internal_name is
  'The item: its root is in game.item.';
comment on column game.item_drop_type.valid_from is
  'Start of the version of the root that the row belongs to: its valid_from.';
comment on column game.item_drop_type.position is
  'Place in the list of the API, from 0.';
comment on column game.item_drop_type.drop_type is
  'altar, challenge, dungeon, dungeonMerchant, event, guild, lootrun, merchant, miniboss, quest, raid.';

comment on table game.item_drop_place is
  'Where a version of an item is found: the place that dropMeta names, and the creatures of droppedBy, each with any number of places.';
comment on column game.item_drop_place.internal_name is
  'The item: its root is in game.item.';
comment on column game.item_drop_place.valid_from is
  'Start of the version of the root that the row belongs to: its valid_from.';
comment on column game.item_drop_place.source is
  'dropMeta (a place or person) or droppedBy (a creature that drops the ingredient).';
comment on column game.item_drop_place.position is
  'Number of the creature in droppedBy, from 0; 0 for dropMeta.';
comment on column game.item_drop_place.place is
  'Number of the place of that creature, from 0.';
comment on column game.item_drop_place.name is
  'Name of the place, person or creature. NULL: the API did not say.';
comment on column game.item_drop_place.x is
  'East-west, in blocks. NULL: nowhere in particular. 99999: the API knows no place.';
comment on column game.item_drop_place.y is
  'Height, in blocks. NULL: nowhere in particular. 99999: the API knows no place.';
comment on column game.item_drop_place.z is
  'North-south, in blocks. NULL: nowhere in particular. 99999: the API knows no place.';
comment on column game.item_drop_place.radius is
  'Distance, in blocks, within which it is found. NULL: the API did not say.';

comment on table game.item_ingredient is
  'What only ingredients have: what they do to the thing crafted with them, and to the other ingredients beside them. One row per version of an ingredient. NULL in a column: the API did not say.';
comment on column game.item_ingredient.internal_name is
  'The item: its root is in game.item.';
comment on column game.item_ingredient.valid_from is
  'Start of the version of the root that the row belongs to: its valid_from.';
comment on column game.item_ingredient.charges is
  'Uses that it adds to a crafted consumable; may be negative.';
comment on column game.item_ingredient.duration is
  'Seconds that it adds to a crafted consumable; may be negative.';
comment on column game.item_ingredient.durability_modifier is
  'Durability that it adds to a crafted weapon, armour or accessory, in thousandths (-181000 is 181 less); mostly negative.';
comment on column game.item_ingredient.strength_requirement is
  'Points of strength by which the ingredient raises what a crafted weapon or armour asks of its wearer; may be negative.';
comment on column game.item_ingredient.dexterity_requirement is
  'Points of dexterity by which the ingredient raises what a crafted weapon or armour asks of its wearer; may be negative.';
comment on column game.item_ingredient.intelligence_requirement is
  'Points of intelligence by which the ingredient raises what a crafted weapon or armour asks of its wearer; may be negative.';
comment on column game.item_ingredient.defence_requirement is
  'Points of defence by which the ingredient raises what a crafted weapon or armour asks of its wearer; may be negative.';
comment on column game.item_ingredient.agility_requirement is
  'Points of agility by which the ingredient raises what a crafted weapon or armour asks of its wearer; may be negative.';
comment on column game.item_ingredient.on_left is
  'Effect, in percent, on the strength of the ingredients to its left; may be negative, 0: none.';
comment on column game.item_ingredient.on_right is
  'Effect, in percent, on the strength of the ingredients to its right; may be negative, 0: none.';
comment on column game.item_ingredient.on_above is
  'Effect, in percent, on the strength of the ingredients above it; may be negative, 0: none.';
comment on column game.item_ingredient.on_under is
  'Effect, in percent, on the strength of the ingredients under it; may be negative, 0: none.';
comment on column game.item_ingredient.on_touching is
  'Effect, in percent, on the strength of the ingredients that touch it; may be negative, 0: none.';
comment on column game.item_ingredient.on_not_touching is
  'Effect, in percent, on the strength of the ingredients that do not touch it; may be negative, 0: none.';

comment on table game.item_skill is
  'Crafting skills that a version of an ingredient can be used for.';
comment on column game.item_skill.internal_name is
  'The item: its root is in game.item.';
comment on column game.item_skill.valid_from is
  'Start of the version of the root that the row belongs to: its valid_from.';
comment on column game.item_skill.position is
  'Place in the list of the API, from 0.';
comment on column game.item_skill.skill is
  'armouring, tailoring, weaponsmithing, woodworking, jeweling, cooking, alchemism, scribing.';

comment on table game.item_material_chance is
  'How likely gathering gives a version of a material in each of its tiers.';
comment on column game.item_material_chance.internal_name is
  'The item: its root is in game.item.';
comment on column game.item_material_chance.valid_from is
  'Start of the version of the root that the row belongs to: its valid_from.';
comment on column game.item_material_chance.tier is
  'TIER_1, TIER_2 or TIER_3.';
comment on column game.item_material_chance.percent is
  'Chance in percent. The tiers do not add up to 100.';

comment on table game.recipe is
  'Versions of crafting recipes. One row per recipe and stretch of time in which it stood still; valid_until = infinity is now. Ranges are what the crafted thing may roll. NULL in a column: the recipe has no such thing.';
comment on column game.recipe.internal_name is
  'Natural key: what the API calls internalName, such as Boots1-3; unique.';
comment on column game.recipe.type is
  'What is crafted: helmet, chestplate, leggings, boots, bow, spear, wand, dagger, relik, ring, bracelet, necklace, food, potion, scroll.';
comment on column game.recipe.skill is
  'Crafting skill that is needed: armouring, tailoring, weaponsmithing, woodworking, jeweling, cooking, alchemism, scribing. NULL: the API did not say.';
comment on column game.recipe.level_min is
  'Lowest level of the band of levels that the recipe is for.';
comment on column game.recipe.level_max is
  'Highest level of that band, inclusive.';
comment on column game.recipe.xp is
  'Experience points for crafting it once.';
comment on column game.recipe.health_or_damage_min is
  'Least health (armour), damage (weapon) or healing (consumable) of the crafted thing. NULL for jewelry, which has none.';
comment on column game.recipe.health_or_damage_max is
  'Most health (armour), damage (weapon) or healing (consumable) of the crafted thing. NULL for jewelry, which has none.';
comment on column game.recipe.durability_min is
  'Least durability of the crafted thing, in thousandths (175000 is 175). NULL for consumables.';
comment on column game.recipe.durability_max is
  'Most durability of the crafted thing, in thousandths (175000 is 175). NULL for consumables.';
comment on column game.recipe.duration_min is
  'Shortest effect of the crafted consumable, in seconds. NULL for anything else.';
comment on column game.recipe.duration_max is
  'Longest effect of the crafted consumable, in seconds. NULL for anything else.';
comment on column game.recipe.basic_duration_min is
  'Shortest effect of the consumable crafted without ingredients, in seconds. NULL for anything else.';
comment on column game.recipe.basic_duration_max is
  'Longest effect of the consumable crafted without ingredients, in seconds. NULL for anything else.';
comment on column game.recipe.document is
  'The whole record in the shape the API uses, without the model numbers of sprites.';
comment on column game.recipe.valid_from is
  'Start, inclusive: the instant the answer speaks for that showed this version first.';
comment on column game.recipe.valid_until is
  'End, exclusive: the instant the answer speaks for that showed something else, or lacked the key. infinity: this version is the current one.';
comment on column game.recipe.previous_until is
  'End of the version before this one: equal to valid_from when nothing lay between, earlier after an absence. NULL: the first version of its key.';
comment on column game.recipe.hash is
  'SHA-256 of the document as JSON text with sorted keys, 32 bytes. Equal: the API said the same.';
comment on column game.recipe.extra is
  'Fields that the API sent and that have no column, in the shape it sent them; elements of an array by their number. NULL: there are none.';

comment on table game.recipe_material is
  'Materials of a version of a recipe; every one seen so far has two.';
comment on column game.recipe_material.internal_name is
  'The recipe: its root is in game.recipe.';
comment on column game.recipe_material.valid_from is
  'Start of the version of the root that the row belongs to: its valid_from.';
comment on column game.recipe_material.position is
  'Place in the list of the API, from 1.';
comment on column game.recipe_material.item is
  'The material: internal_name in game.item. NULL: the API did not say.';
comment on column game.recipe_material.amount is
  'How many are used up. NULL: the API did not say.';

comment on table game.recipe_sprite is
  'What the thing crafted by a version of a recipe may look like, depending on the ingredients used.';
comment on column game.recipe_sprite.internal_name is
  'The recipe: its root is in game.recipe.';
comment on column game.recipe_sprite.valid_from is
  'Start of the version of the root that the row belongs to: its valid_from.';
comment on column game.recipe_sprite.variant is
  'Kind of look: default, air, earth, fire, water, thunder, rainbow, melee, magic, slow and others.';
comment on column game.recipe_sprite.format is
  'How to read the icon, as icon_format of game.item. NULL: the API did not say.';
comment on column game.recipe_sprite.icon_id is
  'Minecraft item of the icon, such as minecraft:potion. NULL: the API did not say.';
comment on column game.recipe_sprite.icon_name is
  'Model of the icon, such as boots.titanium. Model numbers are not kept: they change with every resource pack. NULL: the API did not say.';
comment on column game.recipe_sprite.name is
  'Name of the sprite, such as foodair; one has a typing error (scollrainbow). NULL: the API did not say.';

comment on table game.item_set is
  'Versions of item sets. One row per set and stretch of time in which it stood still; valid_until = infinity is now.';
comment on column game.item_set.name is
  'Natural key: the name under which the API lists the set, such as Morph; what items refer to.';
comment on column game.item_set.internal_name is
  'Name that the set carries within its record: often the same in lower case. NULL: the API did not say.';
comment on column game.item_set.document is
  'The whole record in the shape the API uses, without the order of its parts, which means nothing.';
comment on column game.item_set.valid_from is
  'Start, inclusive: the instant the answer speaks for that showed this version first.';
comment on column game.item_set.valid_until is
  'End, exclusive: the instant the answer speaks for that showed something else, or lacked the key. infinity: this version is the current one.';
comment on column game.item_set.previous_until is
  'End of the version before this one: equal to valid_from when nothing lay between, earlier after an absence. NULL: the first version of its key.';
comment on column game.item_set.hash is
  'SHA-256 of the document as JSON text with sorted keys, 32 bytes. Equal: the API said the same.';
comment on column game.item_set.extra is
  'Fields that the API sent and that have no column, in the shape it sent them; elements of an array by their number. NULL: there are none.';

comment on table game.item_set_part is
  'Items that belong to a version of a set.';
comment on column game.item_set_part.name is
  'The set: its root is in game.item_set.';
comment on column game.item_set_part.valid_from is
  'Start of the version of the root that the row belongs to: its valid_from.';
comment on column game.item_set_part.position is
  'Place in alphabetical order, from 0; the API gives them in no fixed order.';
comment on column game.item_set_part.display_name is
  'The item, by display_name of game.item: the API does not say the internal name.';

comment on table game.item_set_bonus is
  'What wearing several parts of a version of a set adds. Its major ids are in the document of game.item_set.';
comment on column game.item_set_bonus.name is
  'The set: its root is in game.item_set.';
comment on column game.item_set_bonus.valid_from is
  'Start of the version of the root that the row belongs to: its valid_from.';
comment on column game.item_set_bonus.pieces is
  'Number of parts worn, 1 to 8.';
comment on column game.item_set_bonus.identification is
  'What is added, named as in game.item_identification.';
comment on column game.item_set_bonus.value is
  'How much is added; may be negative.';

comment on table game.enumeration is
  'Versions of the members of the enumerations that the API describes items with. One row per member and stretch of time in which it stood still; valid_until = infinity is now.';
comment on column game.enumeration.path is
  'Natural key: list and member, such as filters/tier/weapon/mythic.';
comment on column game.enumeration.list is
  'The list it is a member of, such as filters/tier/weapon or static/identifications.';
comment on column game.enumeration.member is
  'The member itself, such as mythic; min or max in filters/levelRange.';
comment on column game.enumeration.number is
  'The number that the game encodes it with, in the lists under static; the bound itself in filters/levelRange. NULL in all other lists.';
comment on column game.enumeration.document is
  'The whole record in the shape the API uses.';
comment on column game.enumeration.valid_from is
  'Start, inclusive: the instant the answer speaks for that showed this version first.';
comment on column game.enumeration.valid_until is
  'End, exclusive: the instant the answer speaks for that showed something else, or lacked the key. infinity: this version is the current one.';
comment on column game.enumeration.previous_until is
  'End of the version before this one: equal to valid_from when nothing lay between, earlier after an absence. NULL: the first version of its key.';
comment on column game.enumeration.hash is
  'SHA-256 of the document as JSON text with sorted keys, 32 bytes. Equal: the API said the same.';
comment on column game.enumeration.extra is
  'Fields that the API sent and that have no column, in the shape it sent them; elements of an array by their number. NULL: there are none.';

comment on table game.field_change is
  'What changed between consecutive versions of an entity, one row per changed field. The first answer of a resource leaves none: memory begins there.';
comment on column game.field_change.resource is
  'The resource, such as items.';
comment on column game.field_change.key is
  'Natural key of the entity; several columns are joined by a slash.';
comment on column game.field_change.changed_at is
  'The instant the answer speaks for that showed the change first; for an entity that disappeared, that lacked it first.';
comment on column game.field_change.path is
  'JSON pointer (RFC 6901) into the record in the shape the API uses. Empty: the entity as a whole appeared or disappeared.';
comment on column game.field_change.old_value is
  'What was there before. NULL: nothing was; the jsonb value null: a null was.';
comment on column game.field_change.new_value is
  'What is there since. NULL: nothing is; the jsonb value null: a null is.';
comment on column game.field_change.is_revert is
  'True: the change brings back what the latest change of this path before it had replaced.';

comment on table game.territory is
  'Versions of territories: where they lie and how they stand. Who holds one is in territory_hold, what is stored in territory_resource.';
comment on column game.territory.territory is
  'Natural key: the exact name. A renamed territory is another one.';
comment on column game.territory.min_x is
  'West end in blocks, sorted: the API gives the corners in any order.';
comment on column game.territory.min_z is
  'North end in blocks.';
comment on column game.territory.max_x is
  'East end in blocks.';
comment on column game.territory.max_z is
  'South end in blocks.';
comment on column game.territory.is_hq is
  'True: the headquarters of the guild that holds it. NULL: the API did not say.';
comment on column game.territory.treasury is
  'Level of the treasury bonus, which grows with the time held: VERY_LOW to VERY_HIGH. NULL: the API did not say, as before May 2026.';
comment on column game.territory.defences is
  'Level of the defences: VERY_LOW to VERY_HIGH. NULL: the API did not say.';
comment on column game.territory.valid_from is
  'Start, inclusive: the instant the answer speaks for that showed this version first.';
comment on column game.territory.valid_until is
  'End, exclusive: the instant the answer speaks for that showed something else, or lacked the key. infinity: this version is the current one.';
comment on column game.territory.previous_until is
  'End of the version before this one: equal to valid_from when nothing lay between, earlier after an absence. NULL: the first version of its key.';
comment on column game.territory.hash is
  'SHA-256 of the record as JSON text with sorted keys, 32 bytes, without what is sampled. Equal: the API said the same.';
comment on column game.territory.extra is
  'Fields that the API sent and that have no column, in the shape it sent them; elements of an array by their number. NULL: there are none.';

comment on table game.territory_link is
  'Trading routes of a version of a territory, sorted by name.';
comment on column game.territory_link.territory is
  'The territory.';
comment on column game.territory_link.position is
  'Place in the sorted list, from 0.';
comment on column game.territory_link.links_to is
  'Name of the territory that the route leads to; some do not exist.';
comment on column game.territory_link.valid_from is
  'The version this row belongs to: its valid_from.';

comment on table game.territory_hold is
  'Who held a territory from when to when. A version without a guild: nobody did, as far as answers show.';
comment on column game.territory_hold.territory is
  'Exact name of the territory.';
comment on column game.territory_hold.guild_uuid is
  'The guild that held it. NULL: nobody.';
comment on column game.territory_hold.guild_name is
  'Name of the guild when the hold was first seen.';
comment on column game.territory_hold.guild_prefix is
  'Prefix of the guild when the hold was first seen.';
comment on column game.territory_hold.acquired is
  'When the guild captured it, as the API told, to the microsecond. NULL: it did not tell, or nobody holds it.';
comment on column game.territory_hold.observed_at is
  'The instant the answer speaks for that showed this hold first.';
comment on column game.territory_hold.document is
  'Guild and acquired, which make a hold this one.';
comment on column game.territory_hold.valid_from is
  'Start, inclusive: acquired, the capture by the game''s own clock; when it was first seen where the API did not tell or told of a time before what was known.';
comment on column game.territory_hold.valid_until is
  'End, exclusive: the next capture; where nobody followed or the territory left the map, the instant the answer speaks for that showed so first. infinity: it is still held.';
comment on column game.territory_hold.previous_until is
  'End of the version before this one: equal to valid_from when nothing lay between, earlier after an absence. NULL: the first version of its key.';
comment on column game.territory_hold.hash is
  'SHA-256 of the record as JSON text with sorted keys, 32 bytes, without what is sampled. Equal: the API said the same.';
comment on column game.territory_hold.extra is
  'Fields that the API sent and that have no column, in the shape it sent them; elements of an array by their number. NULL: there are none.';

comment on table game.territory_capture is
  'Holds that began with a capture, beside what was there before: every capture that an answer showed, also by the guild that already held the place. The first answer about a territory shows its owner, not a capture.';
comment on column game.territory_capture.territory is
  'Exact name of the territory.';
comment on column game.territory_capture.captured_at is
  'When it happened: acquired of the hold; valid_from of the hold where the API did not tell.';
comment on column game.territory_capture.held_from is
  'valid_from of the hold in territory_hold that began with it.';
comment on column game.territory_capture.observed_at is
  'The instant the answer speaks for that showed it first.';
comment on column game.territory_capture.from_guild_uuid is
  'The guild of the hold before. NULL: nobody held it, as far as answers show.';
comment on column game.territory_capture.from_guild_name is
  'Name of that guild when its hold was first seen.';
comment on column game.territory_capture.to_guild_uuid is
  'The guild that captured it.';
comment on column game.territory_capture.to_guild_name is
  'Name of that guild when the hold was first seen.';

comment on table game.territory_resource is
  'What a territory stored and produced of a resource, a row whenever one of the values changed.';
comment on column game.territory_resource.territory is
  'Exact name of the territory.';
comment on column game.territory_resource.resource is
  'EMERALD, ORE, WOOD, FISH, CROP, or what else the API says.';
comment on column game.territory_resource.generation is
  'Produced per hour, in emeralds or pieces. 0: not produced here.';
comment on column game.territory_resource.base_generation is
  'Produced per hour before bonuses; filled for every resource, also where nothing is produced. NULL: the API did not say.';
comment on column game.territory_resource.stored is
  'In the storage then; may exceed the limit.';
comment on column game.territory_resource.storage_limit is
  'What the storage has room for.';
comment on column game.territory_resource.observed_at is
  'The instant the answer speaks for that showed these values first; they hold until the next row of the same key.';

comment on table game.guild_listing is
  'Versions of guilds as the guild list has them: names and prefixes. A version that ends without a next one: disbanded.';
comment on column game.guild_listing.guild_uuid is
  'Natural key.';
comment on column game.guild_listing.name is
  'Name, byte for byte: may be empty, have spaces at its ends or differ from another one in case only. NULL: the API did not say.';
comment on column game.guild_listing.prefix is
  'Prefix, byte for byte; not unique. NULL: the API did not say.';
comment on column game.guild_listing.valid_from is
  'Start, inclusive: the instant the answer speaks for that showed this version first.';
comment on column game.guild_listing.valid_until is
  'End, exclusive: the instant the answer speaks for that showed something else, or lacked the key. infinity: this version is the current one.';
comment on column game.guild_listing.previous_until is
  'End of the version before this one: equal to valid_from when nothing lay between, earlier after an absence. NULL: the first version of its key.';
comment on column game.guild_listing.hash is
  'SHA-256 of the record as JSON text with sorted keys, 32 bytes, without what is sampled. Equal: the API said the same.';
comment on column game.guild_listing.extra is
  'Fields that the API sent and that have no column, in the shape it sent them; elements of an array by their number. NULL: there are none.';

comment on table game.guild is
  'Versions of what rarely changes about a guild, from its own answer. Its numbers are in guild_sample.';
comment on column game.guild.guild_uuid is
  'Natural key.';
comment on column game.guild.name is
  'Name, byte for byte.';
comment on column game.guild.prefix is
  'Prefix; not unique.';
comment on column game.guild.created_at is
  'When it was founded, by the API.';
comment on column game.guild.banner_base is
  'Colour of the banner''s cloth. NULL: it has no banner.';
comment on column game.guild.banner_tier is
  'Tier of the banner.';
comment on column game.guild.banner_structure is
  'Structure of the banner. NULL: the API did not say.';
comment on column game.guild.valid_from is
  'Start, inclusive: the instant the answer speaks for that showed this version first.';
comment on column game.guild.valid_until is
  'End, exclusive: the instant the answer speaks for that showed something else, or lacked the key. infinity: this version is the current one.';
comment on column game.guild.previous_until is
  'End of the version before this one: equal to valid_from when nothing lay between, earlier after an absence. NULL: the first version of its key.';
comment on column game.guild.hash is
  'SHA-256 of the record as JSON text with sorted keys, 32 bytes, without what is sampled. Equal: the API said the same.';
comment on column game.guild.extra is
  'Fields that the API sent and that have no column, in the shape it sent them; elements of an array by their number. NULL: there are none.';

comment on table game.guild_banner_layer is
  'Layers of the banner of a version of a guild.';
comment on column game.guild_banner_layer.guild_uuid is
  'The guild.';
comment on column game.guild_banner_layer.position is
  'Place from the cloth up, from 0.';
comment on column game.guild_banner_layer.colour is
  'Colour, such as LIGHT_BLUE.';
comment on column game.guild_banner_layer.pattern is
  'Pattern, such as STRIPE_TOP.';
comment on column game.guild_banner_layer.valid_from is
  'The version this row belongs to: its valid_from.';

comment on table game.guild_member is
  'Versions of memberships: a player in a guild under a rank and a name. A membership ends at the first of the complete answers in a row that lack the player.';
comment on column game.guild_member.guild_uuid is
  'The guild; with the player the natural key.';
comment on column game.guild_member.player_uuid is
  'The player.';
comment on column game.guild_member.username is
  'Name of the player then. NULL: the API did not say.';
comment on column game.guild_member.rank is
  'owner, chief, strategist, captain, recruiter, recruit, or what else the API says.';
comment on column game.guild_member.joined is
  'When the player joined, as the API told; tells one stay in the guild from the next. NULL: it did not tell.';
comment on column game.guild_member.restricted is
  'What the member hides from us, in camelCase, such as onlineStatus; what is hidden is NULL elsewhere. Empty: nothing.';
comment on column game.guild_member.valid_from is
  'Start, inclusive: the instant the answer speaks for that showed this version first.';
comment on column game.guild_member.valid_until is
  'End, exclusive: the instant the answer speaks for that showed something else, or lacked the key. infinity: this version is the current one.';
comment on column game.guild_member.previous_until is
  'End of the version before this one: equal to valid_from when nothing lay between, earlier after an absence. NULL: the first version of its key.';
comment on column game.guild_member.hash is
  'SHA-256 of the record as JSON text with sorted keys, 32 bytes, without what is sampled. Equal: the API said the same.';
comment on column game.guild_member.extra is
  'Fields that the API sent and that have no column, in the shape it sent them; elements of an array by their number. NULL: there are none.';

comment on table game.guild_sample is
  'A guild''s numbers, a row whenever one of them changed.';
comment on column game.guild_sample.guild_uuid is
  'The guild.';
comment on column game.guild_sample.level is
  'Level.';
comment on column game.guild_sample.xp_percent is
  'Percent of the way to the next level.';
comment on column game.guild_sample.territories is
  'Territories by the guild''s own count.';
comment on column game.guild_sample.wars is
  'Wars by the guild''s own count. NULL: the API did not say.';
comment on column game.guild_sample.raids is
  'Raids by the guild''s own count. NULL: the API did not say.';
comment on column game.guild_sample.members is
  'Members by the guild''s own count.';
comment on column game.guild_sample.online is
  'Members online by the guild''s own count, hidden ones included.';
comment on column game.guild_sample.online_listed is
  'Members whose own record says online.';
comment on column game.guild_sample.hidden is
  'Members who hide whether they are online.';
comment on column game.guild_sample.observed_at is
  'The instant the answer speaks for that showed these values first; they hold until the next row of the same key.';

comment on table game.guild_season is
  'A guild''s rating in a season, a row whenever it changed.';
comment on column game.guild_season.guild_uuid is
  'The guild.';
comment on column game.guild_season.season is
  'Number of the season; season 0 exists.';
comment on column game.guild_season.rating is
  'Season rating.';
comment on column game.guild_season.final_territories is
  'Territories at the end of the season.';
comment on column game.guild_season.observed_at is
  'The instant the answer speaks for that showed these values first; they hold until the next row of the same key.';

comment on table game.guild_ranking is
  'A guild''s place on a leaderboard, a row whenever it changed. No row says that it left the board.';
comment on column game.guild_ranking.guild_uuid is
  'The guild.';
comment on column game.guild_ranking.board is
  'The leaderboard, as the API calls it.';
comment on column game.guild_ranking.position is
  'Place, from 1.';
comment on column game.guild_ranking.observed_at is
  'The instant the answer speaks for that showed these values first; they hold until the next row of the same key.';

comment on table game.member_counter is
  'What is counted about a member, a row whenever a value changed. Counters may fall: by joining again, by a glitch, for no visible reason.';
comment on column game.member_counter.guild_uuid is
  'The guild whose answer showed it.';
comment on column game.member_counter.player_uuid is
  'The member.';
comment on column game.member_counter.counter is
  'Name: contributed (since joining), wars, guildRaids.total, raids.list.<raid>, playtime and so on, by the names that lead to it in the API.';
comment on column game.member_counter.value is
  'The value, exact up to 2^53. What a member hides gives no row.';
comment on column game.member_counter.observed_at is
  'The instant the answer speaks for that showed these values first; they hold until the next row of the same key.';

comment on table game.member_presence is
  'Whether a member was online, a row whenever that or the world changed.';
comment on column game.member_presence.guild_uuid is
  'The guild whose answer showed it.';
comment on column game.member_presence.player_uuid is
  'The member.';
comment on column game.member_presence.online is
  'Online then. NULL: the member hides it, so that offline would be a guess.';
comment on column game.member_presence.server is
  'World. NULL: offline or hidden.';
comment on column game.member_presence.last_join is
  'Last login that the API told. NULL: hidden, or never told.';
comment on column game.member_presence.observed_at is
  'The instant the answer speaks for that showed these values first; they hold until the next row of the same key.';

comment on table game.season is
  'Versions of the definitions of guild seasons.';
comment on column game.season.season is
  'Natural key: the number.';
comment on column game.season.started_at is
  'Beginning; the API has called it initDate and startDate. NULL: it did not say.';
comment on column game.season.ends_at is
  'End.';
comment on column game.season.territory_holding_sr_per_hour is
  'Season rating for holding a territory for an hour.';
comment on column game.season.sr_per_war is
  'Season rating for a war won.';
comment on column game.season.valid_from is
  'Start, inclusive: the instant the answer speaks for that showed this version first.';
comment on column game.season.valid_until is
  'End, exclusive: the instant the answer speaks for that showed something else, or lacked the key. infinity: this version is the current one.';
comment on column game.season.previous_until is
  'End of the version before this one: equal to valid_from when nothing lay between, earlier after an absence. NULL: the first version of its key.';
comment on column game.season.hash is
  'SHA-256 of the record as JSON text with sorted keys, 32 bytes, without what is sampled. Equal: the API said the same.';
comment on column game.season.extra is
  'Fields that the API sent and that have no column, in the shape it sent them; elements of an array by their number. NULL: there are none.';

comment on table game.season_reward is
  'Rewards of a version of a season.';
comment on column game.season_reward.season is
  'The season.';
comment on column game.season_reward.list is
  'rating (for a rating reached) or leaderboard (for a place).';
comment on column game.season_reward.position is
  'Place in that list, from 0.';
comment on column game.season_reward.condition_type is
  'SR or LEADERBOARD_POSITION.';
comment on column game.season_reward.condition_value is
  'The rating or place that earns it.';
comment on column game.season_reward.reward_type is
  'BADGE, EFFECT, COSMETIC, EMERALD, PRIVATE_BANK_SLOT, PUBLIC_BANK_SLOT, GUILD_TOME, STRUCTURE, or what else the API says.';
comment on column game.season_reward.reward_value is
  'How much, or the name of what is given, as text. NULL: nothing to tell.';
comment on column game.season_reward.expires_at is
  'When it expires. NULL: never.';
comment on column game.season_reward.valid_from is
  'The version this row belongs to: its valid_from.';
