create or replace function analytics.class_at(name text, at timestamptz default now()) returns jsonb
language sql stable parallel safe
return (select analytics.as_sent(version.document, 'classes', class_at.at) from game.class version
         where (version.class = lower(class_at.name) or version.name = class_at.name)
           and version.valid_from <= class_at.at and class_at.at < version.valid_until and analytics.checked_at(class_at.at) is not null
           and analytics.was_observed('classes', class_at.at, version.valid_until)
           and analytics.was_read('classes', version.class, class_at.at, version.valid_until)
         order by version.class collate "C" limit 1);
comment on function analytics.class_at(text, timestamptz) is
'The whole class as it was at an instant, in the API''s own shape. NULL when it was not known then, also where no response came for long and the next one showed something else, or none has come; null within it: the API did not send it. Arguments: name, its id such as archer, or its name; at, the instant (now when left out).';

create or replace function analytics.ability_at(name text, at timestamptz default now()) returns jsonb
language sql stable parallel safe
return (select analytics.as_sent(version.document, 'ability-trees', ability_at.at) from game.ability version
         where (version.name = ability_at.name or version.id = ability_at.name
                or version.class || '/' || version.kind || '/' || version.id = ability_at.name)
           and version.valid_from <= ability_at.at and ability_at.at < version.valid_until and analytics.checked_at(ability_at.at) is not null
           and analytics.was_observed('ability-trees', ability_at.at, version.valid_until)
           and analytics.was_read('ability-trees', version.class || '/' || version.kind || '/' || version.id, ability_at.at, version.valid_until)
         -- Archetypes may have the name of an ability, and two classes one of the same name.
         order by version.kind <> 'ability', version.class collate "C", version.id collate "C" limit 1);
comment on function analytics.ability_at(text, timestamptz) is
'The whole ability, archetype or connector as it was at an instant, in the API''s own shape. NULL when it was not known then, also where no response came for long and the next one showed something else, or none has come; null within it: the API did not send it. Arguments: name, its name, its id, or class/kind/id where several have that; at, the instant (now when left out).';

create or replace function analytics.raid_at(name text, at timestamptz default now()) returns jsonb
language sql stable parallel safe
return (select analytics.as_sent(version.document, 'raids', raid_at.at) from game.raid version
         where (version.internal_name = raid_at.name or version.name = raid_at.name) and version.level = 0
           and version.valid_from <= raid_at.at and raid_at.at < version.valid_until and analytics.checked_at(raid_at.at) is not null
           and analytics.was_observed('raids', raid_at.at, version.valid_until)
           and analytics.was_read('raids', version.internal_name || '/' || version.level, raid_at.at, version.valid_until)
         order by version.internal_name collate "C" limit 1);
comment on function analytics.raid_at(text, timestamptz) is
'The whole raid as it was at an instant, with rewards for its own level, in the API''s own shape. NULL when it was not known then, also where no response came for long and the next one showed something else, or none has come; null within it: the API did not send it. Arguments: name, as players see it or as the game names it; at, the instant (now when left out).';

create or replace function analytics.camp_at(name text, at timestamptz default now()) returns jsonb
language sql stable parallel safe
return (select analytics.as_sent(version.document, 'camps', camp_at.at) from game.camp version
         where (version.internal_name = camp_at.name or version.name = camp_at.name) and version.level = 0
           and version.valid_from <= camp_at.at and camp_at.at < version.valid_until and analytics.checked_at(camp_at.at) is not null
           and analytics.was_observed('camps', camp_at.at, version.valid_until)
           and analytics.was_read('camps', version.internal_name || '/' || version.level, camp_at.at, version.valid_until)
         order by version.internal_name collate "C" limit 1);
comment on function analytics.camp_at(text, timestamptz) is
'The whole camp as it was at an instant, with rewards for its own level, in the API''s own shape. NULL when it was not known then, also where no response came for long and the next one showed something else, or none has come; null within it: the API did not send it. Arguments: name, as players see it or as the game names it; at, the instant (now when left out).';
