package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"
)

const (
	s3Scheme = "s3"
	// anyRegion is the one that stores without regions call theirs.
	anyRegion = "us-east-1"
)

// Beam has a filesystem of this scheme too. It cannot name buckets in paths, as self-hosted stores
// need it, and it leaves parts of interrupted uploads, which no listing shows.
func init() { filesystem.Register(s3Scheme, newS3) }

// bucketS3 is S3, or a store that speaks its protocol.
type bucketS3 struct{ client *s3.Client }

// newS3 connects by the environment and the files of the AWS SDK. If these name an endpoint, it
// counts as a self-hosted store: buckets are in paths, and there are no checksums except this
// package's, since older stores refuse those of the protocol.
func newS3(ctx context.Context) filesystem.Interface {
	c, err := config.LoadDefaultConfig(ctx, config.WithLogger(logging.Nop{}))
	if err != nil {
		panic(err)
	}
	return bucketS3{s3.NewFromConfig(c, func(o *s3.Options) {
		if o.BaseEndpoint == nil {
			return
		}
		o.UsePathStyle = true
		if o.Region == "" {
			o.Region = anyRegion
		}
		o.RequestChecksumCalculation, o.ResponseChecksumValidation = aws.RequestChecksumCalculationWhenRequired, aws.ResponseChecksumValidationWhenRequired
	})}
}

// parts returns the bucket and the key of a name.
func parts(name string) (bucket, key *string, err error) {
	b, k, _ := strings.Cut(strings.TrimPrefix(name, s3Scheme+"://"), "/")
	if b == "" || k == "" {
		return nil, nil, fmt.Errorf("no object: %q", name)
	}
	return &b, &k, nil
}

// Close implements filesystem.Interface.
func (b bucketS3) Close() error { return nil }

// List returns the names that match a pattern, as path.Match does.
func (b bucketS3) List(ctx context.Context, glob string) (names []string, err error) {
	bucket, pattern, err := parts(glob)
	if err != nil {
		return nil, err
	}
	prefix := *pattern
	if i := strings.IndexAny(prefix, marks); i >= 0 {
		prefix = prefix[:i]
	}
	pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: bucket, Prefix: &prefix})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, object := range page.Contents {
			key := aws.ToString(object.Key)
			switch match, err := path.Match(*pattern, key); {
			case err != nil:
				return nil, err
			case match:
				names = append(names, s3Scheme+"://"+*bucket+"/"+key)
			}
		}
	}
	return names, nil
}

// OpenRead implements filesystem.Interface.
func (b bucketS3) OpenRead(ctx context.Context, name string) (io.ReadCloser, error) {
	bucket, key, err := parts(name)
	if err != nil {
		return nil, err
	}
	object, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: key})
	if err != nil {
		return nil, err
	}
	return object.Body, nil
}

// Size implements filesystem.Interface.
func (b bucketS3) Size(ctx context.Context, name string) (int64, error) {
	bucket, key, err := parts(name)
	if err != nil {
		return 0, err
	}
	object, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: bucket, Key: key})
	if err != nil {
		return 0, err
	}
	return aws.ToInt64(object.ContentLength), nil
}

// Remove implements filesystem.Remover.
func (b bucketS3) Remove(ctx context.Context, name string) error {
	bucket, key, err := parts(name)
	if err == nil {
		_, err = b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: bucket, Key: key})
	}
	return err
}

// OpenWrite writes an object, which is there once it is closed.
func (b bucketS3) OpenWrite(ctx context.Context, name string) (io.WriteCloser, error) {
	bucket, key, err := parts(name)
	if err != nil {
		return nil, err
	}
	f, err := nameless()
	if err != nil {
		return nil, err
	}
	return upload{f, func() error {
		_, err := f.Seek(0, io.SeekStart)
		if err == nil {
			_, err = b.client.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: key, Body: f})
		}
		return err
	}}, nil
}

// An upload is first written to a file of this machine: in one request an object is there whole or
// not at all, and a request that fails can be repeated.
type upload struct {
	*os.File
	put func() error
}

// Close writes the object.
func (u upload) Close() error { return errors.Join(u.put(), u.File.Close()) }
