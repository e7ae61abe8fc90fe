CREATE TABLE "sync"."verification" (
	"id" smallint PRIMARY KEY NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"seconds" integer NOT NULL,
	"checks" integer NOT NULL,
	"wrong" bigint NOT NULL,
	"found" jsonb NOT NULL
);
