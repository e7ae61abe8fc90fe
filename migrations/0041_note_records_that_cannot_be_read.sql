CREATE TABLE "sync"."unread" (
	"resource" text NOT NULL,
	"key" text NOT NULL,
	"from_at" timestamp with time zone NOT NULL,
	"until_at" timestamp with time zone,
	"run_id" uuid NOT NULL,
	CONSTRAINT "unread_pkey" PRIMARY KEY("resource","key","from_at")
);
