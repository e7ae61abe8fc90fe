-- What every table and column of the online list and of player profiles means. Source of the facts: API reference, section 7.

comment on table game.world is
  'Versions of worlds: from the first answer that lists a player there to the first of those in a row that list nobody. A world without listed players cannot be told from one that is down.';
comment on column game.world.world is 'Natural key: name of the world, such as EU1.';
comment on column game.world.valid_from is 'The first answer that had it.';
comment on column game.world.valid_until is 'The first answer that did not have it; infinity while it is up.';
comment on column game.world.previous_until is 'Where the version before it ended. NULL for the first one of its key.';
comment on column game.world.hash is 'Fingerprint; the same for all worlds, since only being there counts.';
comment on column game.world.extra is 'Fields that the program did not know when it read them.';

comment on table game.world_sample is 'How many players were listed on a world, whenever that changed.';
comment on column game.world_sample.world is 'Name of the world.';
comment on column game.world_sample.observed_at is 'The instant that the answer speaks for; the number holds until the next row of the world.';
comment on column game.world_sample.online is 'Players listed there. Those who hide are on no world''s list. 0: in no line of the answer, while the world was not yet taken to be down.';

comment on table game.online_sample is 'How many players were online, whenever one of the numbers changed.';
comment on column game.online_sample.observed_at is 'The instant that the answer speaks for; the numbers hold until the next row.';
comment on column game.online_sample.total is 'Everybody online by the service''s own count, hidden ones included. NULL: it did not say.';
comment on column game.online_sample.listed is 'Players in the list.';
comment on column game.online_sample.hidden is 'Total less listed. NULL: not known, also where the service counted fewer than it listed.';

comment on table game.player_listing is
  'Times during which every answer about who is online listed a player. Facts only; what follows for logins and logouts is in analytics.player_session.';
comment on column game.player_listing.player_uuid is 'The player.';
comment on column game.player_listing.first_listed_at is 'The first answer that listed the player.';
comment on column game.player_listing.last_unlisted_at is 'The answer before it, which did not. NULL: there was none.';
comment on column game.player_listing.last_listed_at is 'The last answer that listed the player. NULL: the latest one does.';
comment on column game.player_listing.first_unlisted_at is 'The answer after it, which did not. NULL: the latest one lists the player.';
comment on column game.player_listing.login_earliest is 'The answer before it, if nobody was hidden in it: the login was later. NULL: the player may have been hidden.';
comment on column game.player_listing.logout_latest is 'The answer after it, if nobody was hidden in it: the logout was earlier. NULL: still listed, or perhaps hidden.';
comment on column game.player_listing.world is 'World in the first answer. NULL: it did not say.';
comment on column game.player_listing.last_world is 'World in the last answer. NULL: it did not say.';

comment on table game.player_hop is 'A player was listed on another world than in the answer before.';
comment on column game.player_hop.player_uuid is 'The player.';
comment on column game.player_hop.from_world is 'World in the answer before.';
comment on column game.player_hop.to_world is 'World in this answer. There may have been others in between.';
comment on column game.player_hop.earliest is 'The answer before: it happened later.';
comment on column game.player_hop.latest is 'This answer: it happened by then.';

comment on table game.player is
  'Versions of players'' profiles: who they are, not what moves while they play. What a player hides is NULL, and restricted says why.';
comment on column game.player.player_uuid is 'Natural key.';
comment on column game.player.username is 'Name in the game; players change it.';
comment on column game.player.nickname is 'Shown name. NULL: none.';
comment on column game.player.rank is 'Player, or a staff rank.';
comment on column game.player.rank_badge is 'Path of the rank''s picture.';
comment on column game.player.shortened_rank is 'Short form of a staff rank.';
comment on column game.player.support_rank is 'Rank bought: vip, vipplus, hero, champion. NULL: none.';
comment on column game.player.rank_colour is 'Main colour of the rank.';
comment on column game.player.rank_colour_sub is 'Second colour of the rank.';
comment on column game.player.veteran is 'Whether the player bears the veteran sign. NULL: not told.';
comment on column game.player.first_join is 'When the player came for the first time. NULL where mainAccess is restricted.';
comment on column game.player.guild_uuid is 'The player''s guild. NULL: none.';
comment on column game.player.guild_name is 'Its name in the profile.';
comment on column game.player.guild_prefix is 'Its prefix in the profile.';
comment on column game.player.guild_rank is 'Rank in it, in capitals as profiles have it.';
comment on column game.player.guild_rank_stars is 'The stars of that rank.';
comment on column game.player.wallpaper is 'Wallpaper of the profile.';
comment on column game.player.avatar is 'Picture of the profile.';
comment on column game.player.restricted is 'Access rules that hide something from us, in the API''s camelCase: mainAccess, onlineStatus ...';
comment on column game.player.valid_from is 'The answer that showed this first.';
comment on column game.player.valid_until is 'The answer that showed something else first; infinity while it is so.';
comment on column game.player.previous_until is 'Where the version before it ended. NULL for the first one of its key.';
comment on column game.player.hash is 'Fingerprint of the version.';
comment on column game.player.extra is 'Fields that the program did not know when it read them.';

comment on table game.player_status is
  'Whether a player was online and when the latest login was, by the player''s own profile, whenever that changed.';
comment on column game.player_status.player_uuid is 'The player.';
comment on column game.player_status.observed_at is 'The instant that the answer speaks for.';
comment on column game.player_status.online is 'NULL: hidden. False is said only of somebody who does not hide it.';
comment on column game.player_status.world is 'Where. NULL: offline or hidden.';
comment on column game.player_status.last_join is 'The latest login. NULL: not told, or hidden: what the API sends then may be out of date.';
comment on column game.player_status.active_character is 'Uuid of the character in play, or played last. NULL: not told.';

comment on table game.player_counter is
  'A player''s counters over all characters, each whenever it changed. They may fall. One that is hidden has no row: it is not 0.';
comment on column game.player_counter.player_uuid is 'The player.';
comment on column game.player_counter.counter is 'Name as in the API, nested ones with dots: playtime (hours), wars, raids.total, raids.list.<raid>.';
comment on column game.player_counter.observed_at is 'The instant that the answer speaks for; the value holds until the next row of the counter.';
comment on column game.player_counter.value is 'The counter.';

comment on table game.player_ranking is 'A player''s place on a leaderboard whenever it changed.';
comment on column game.player_ranking.player_uuid is 'The player.';
comment on column game.player_ranking.board is 'Name of the leaderboard.';
comment on column game.player_ranking.observed_at is 'The instant that the answer speaks for.';
comment on column game.player_ranking.position is 'Place; 1 is the first.';

comment on table game.player_character is
  'Versions of characters: what lasts. Numbers are in game.character_counter. A character ends when two answers lack it; never while the player hides the list.';
comment on column game.player_character.player_uuid is 'Whose character it is.';
comment on column game.player_character.character_uuid is 'The character.';
comment on column game.player_character.type is 'Class: ARCHER, WARRIOR, ASSASSIN, MAGE, SHAMAN.';
comment on column game.player_character.reskin is 'Name of the class''s other look, or true where only that was told. NULL: not worn.';
comment on column game.player_character.nickname is 'Name the player gave it.';
comment on column game.player_character.level is 'Combat level.';
comment on column game.player_character.gamemodes is 'Modes such as hunted, ironman, craftsman, hardcore; empty when none.';
comment on column game.player_character.died is 'Whether a hardcore character died.';
comment on column game.player_character.pre_economy is 'Whether it is older than the economy update.';
comment on column game.player_character.restricted is 'Access rules that hide something of this character, in the API''s camelCase.';
comment on column game.player_character.removed_stats is 'Stats that are gone for everybody but the owner.';
comment on column game.player_character.valid_from is 'The answer that showed this first.';
comment on column game.player_character.valid_until is 'The answer that showed something else first; infinity while it is so.';
comment on column game.player_character.previous_until is 'Where the version before it ended. NULL for the first one of its key.';
comment on column game.player_character.hash is 'Fingerprint of the version.';
comment on column game.player_character.extra is 'Fields that the program did not know when it read them.';

comment on table game.character_counter is
  'A character''s numbers, each whenever it changed. One that is hidden has no row: it is not 0.';
comment on column game.character_counter.player_uuid is 'Whose character it is.';
comment on column game.character_counter.character_uuid is 'The character.';
comment on column game.character_counter.counter is 'Name as in the API, nested ones with dots: xp, playtime (hours), skillPoints.strength, dungeons.list.<dungeon>. blocksWalked overflows and may be negative.';
comment on column game.character_counter.observed_at is 'The instant that the answer speaks for; the value holds until the next row of the counter.';
comment on column game.character_counter.value is 'The number.';

comment on table game.character_profession is 'A character''s standing in a profession whenever it changed.';
comment on column game.character_profession.player_uuid is 'Whose character it is.';
comment on column game.character_profession.character_uuid is 'The character.';
comment on column game.character_profession.profession is 'Name of the profession, such as fishing.';
comment on column game.character_profession.observed_at is 'The instant that the answer speaks for.';
comment on column game.character_profession.level is 'Level in it.';
comment on column game.character_profession.xp_percent is 'Way to the next level, 0..100.';

comment on table game.character_quest is 'Quests that characters have done.';
comment on column game.character_quest.player_uuid is 'Whose character it is.';
comment on column game.character_quest.character_uuid is 'The character.';
comment on column game.character_quest.quest is 'Name of the quest.';
comment on column game.character_quest.observed_at is 'The answer that listed it first: it was done by then.';
comment on column game.character_quest.done is 'Always true.';
