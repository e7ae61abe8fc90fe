CREATE TABLE "sync"."unconfirmed_version" (
	"resource" text NOT NULL,
	"key" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"ended" timestamp with time zone,
	CONSTRAINT "unconfirmed_version_pkey" PRIMARY KEY("resource","key","valid_from")
);
